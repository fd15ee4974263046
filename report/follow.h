/*
 * --follow: reports of a recording that is still being written.
 *
 * The recording is read as it grows. At each interval the process forks. The child continues as if
 * the recording ended there, and reports. The parent stays at its position and keeps the names of
 * all frames so far, which the next child inherits. So an update only costs the data since the last
 * one and the report itself, and no analysis or output depends on following. If later chunks change
 * data that was read before (FILE, losses, the end), the parent reads the recording anew before the
 * next update.
 *
 *	mt_follow_create(&options, &follow);
 *	do {
 *		a session with mt_follow_growth(follow) in its options; its report
 *	} while (mt_follow_why(follow) == MT_FOLLOW_ANEW);
 */
#ifndef MT_REPORT_FOLLOW_H
#define MT_REPORT_FOLLOW_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

struct mt_error;
struct mt_facts;
struct mt_follow;
struct mt_session_growth;

struct mt_follow_options {
	const char *path;   /* borrowed; "-": standard input */
	double interval;    /* seconds */
	unsigned long most; /* maximum number of updates; 0: no limit */
	bool listing;	    /* rows appear as records arrive; no child is forked */
	/* Borrowed. When *stop is not 0, the report ends with the data read so far. */
	const volatile sig_atomic_t *stop;
};

/* Opens the file or pipe, and waits until a recording begins in it. */
struct mt_error *mt_follow_create(const struct mt_follow_options *options, struct mt_follow **out);
void mt_follow_destroy(struct mt_follow *follow);

/* How the next session waits for the recording to grow. Borrowed. */
const struct mt_session_growth *mt_follow_growth(struct mt_follow *follow);

/* Call before the output is written to `to`: begins an update on standard output. */
void mt_follow_begin(struct mt_follow *follow, const struct mt_facts *facts, FILE *to);

/*
 * The reason why a session's reading ended, with or without an error. With MT_FOLLOW_ANEW and
 * MT_FOLLOW_ENOUGH, the error only ends the reading, and must not be printed.
 */
enum mt_follow_end {
	MT_FOLLOW_LAST,	  /* the whole recording was read: this is the last report */
	MT_FOLLOW_UPDATE, /* in a child, which exits after its report */
	MT_FOLLOW_ANEW,	  /* open another session */
	MT_FOLLOW_ENOUGH, /* all updates were shown, or one of them failed */
};
enum mt_follow_end mt_follow_why(const struct mt_follow *follow);

/* MT_FOLLOW_ENOUGH: the exit status of the child that failed; else 0. */
int mt_follow_status(const struct mt_follow *follow);

#endif
