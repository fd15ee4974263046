/*
 * The view that outputs get: the options of the command line that concern them, and the terminal.
 */
#ifndef MT_REPORT_VIEW_H
#define MT_REPORT_VIEW_H

#include "report/outputs/outputs.h"

struct mt_report_options;
struct mt_session;

/* Borrows options and session. fd: descriptor of the output; a terminal is asked for its width. */
struct mt_view mt_report_view(const struct mt_report_options *options, struct mt_session *session,
			      int fd);

#endif
