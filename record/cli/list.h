/* --list: the available events. */
#ifndef MT_RECORD_CLI_LIST_H
#define MT_RECORD_CLI_LIST_H

#include <stdio.h>

struct mt_error;

/*
 * Prints the event table and the kernel's tracepoints that match pattern (a shell pattern, or a
 * part of the name or help; NULL: all). MT_ERR_NOT_FOUND if nothing matches. *count: number of
 * events printed, even if reading the tracepoints failed.
 */
struct mt_error *mt_list_events(const char *pattern, FILE *to, size_t *count);

#endif
