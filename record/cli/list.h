/* --list: the available events. */
#ifndef MT_RECORD_CLI_LIST_H
#define MT_RECORD_CLI_LIST_H

#include <stdio.h>

struct mt_error;

#define MT_LIST_WIDTH_MIN 40

/*
 * Prints the rows of the event table that match pattern (a shell pattern, or a part of the name or
 * help; NULL: all), each as
 *
 *	ALIAS KIND yes|part|no rare|storm|timed --REPORT UNIT HELP[; = EVENTS][; here: REASON]
 *
 * then the kernel's tracepoints that match. width: columns of a terminal, at least
 * MT_LIST_WIDTH_MIN, to which rows are folded; 0: a row is one line. MT_ERR_NOT_FOUND if nothing
 * matches. *count: number of printed events, even if reading the tracepoints failed.
 */
struct mt_error *mt_list_events(const char *pattern, size_t width, FILE *to, size_t *count);

#endif
