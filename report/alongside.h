/*
 * The tables that an output shows in addition to the table of its analysis, from the same reading
 * of the files. The summary gets the tables on memory. A page of the recording gets all other
 * analyses.
 *
 *	alongside = mt_alongside_listen(options, session, baseline);
 *	...					the analysis reads both sessions to their ends
 *	mt_alongside_finish(alongside);
 *	mt_alongside_show(alongside, &view);
 */
#ifndef MT_REPORT_ALONGSIDE_H
#define MT_REPORT_ALONGSIDE_H

#include <stdbool.h>

struct mt_baseline;
struct mt_alongside;
struct mt_error;
struct mt_report_options;
struct mt_session;
struct mt_view;

/*
 * Call before the sessions' first samples are read. Borrows all arguments; the baseline may be
 * NULL. Returns NULL if the output shows no further tables.
 */
struct mt_alongside *mt_alongside_listen(const struct mt_report_options *options,
					 struct mt_session *session, struct mt_baseline *baseline);
void mt_alongside_destroy(struct mt_alongside *alongside);

/* Makes the tables. NULL-safe. */
struct mt_error *mt_alongside_finish(struct mt_alongside *alongside);

/*
 * Whether there are gauges of the selection: those of the host if nothing is selected, else those
 * of the selected processes. False for NULL.
 */
bool mt_alongside_is_gauged(const struct mt_alongside *alongside);

/* Sets the tables of the view, which borrows them. */
void mt_alongside_show(const struct mt_alongside *alongside, struct mt_view *view);

#endif
