/*
 * The tables that an output shows beside those of its analysis, from the same reading of the files:
 * what is known of memory, for the screen, and all other analyses, for a page of the recording.
 *
 *	mt_alongside_listen(options, session, baseline, &beside);
 *	...					the analysis reads both sessions to their ends
 *	mt_alongside_finish(beside);
 *	mt_alongside_show(beside, &view);
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
 * Before the sessions' first samples are asked for. Borrows all; the baseline may be NULL. *out is
 * NULL where the output shows nothing more.
 */
struct mt_error *mt_alongside_listen(const struct mt_report_options *options,
				     struct mt_session *session, struct mt_baseline *baseline,
				     struct mt_alongside **out);
void mt_alongside_destroy(struct mt_alongside *alongside);

/* Makes the tables. Of NULL nothing. */
struct mt_error *mt_alongside_finish(struct mt_alongside *alongside);

/*
 * Whether gauges tell of what is selected: of the host, where nothing is selected, or of processes.
 * False of NULL.
 */
bool mt_alongside_is_gauged(const struct mt_alongside *alongside);

/* Sets the tables of the view, which borrows them. */
void mt_alongside_show(const struct mt_alongside *alongside, struct mt_view *view);

#endif
