/* --list: the events that can be asked for. */
#ifndef MT_RECORD_CLI_LIST_H
#define MT_RECORD_CLI_LIST_H

#include <stdio.h>

struct mt_error;

/*
 * Prints the event table and the kernel's tracepoints that match pattern (a shell pattern, or a
 * part of the name or help; NULL: all). Nothing that matches is MT_ERR_NOT_FOUND.
 * *count says how many were printed, which may be some although the tracepoints could not be read.
 */
struct mt_error *mt_list_events(const char *pattern, FILE *to, size_t *count);

#endif
