/* The address spaces of a ledger and their private state, found by session space and by pid. */
#ifndef MT_REPORT_LEDGER_LEDGER_SPACES_H
#define MT_REPORT_LEDGER_LEDGER_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "report/ledger/ledger.h"

struct mt_overlaps;
struct mt_space;

/* A child space that was copied by fork while other threads may have been in calls. */
struct mt_copied_space {
	struct mt_ledger_space *child;
	uint64_t since, time; /* the copy was made between these times */
};

enum {
	MT_COPIES = 8, /* forks kept per space, the latest */
};

/* The ledger's private state of a space. */
struct mt_ledger_watch {
	struct mt_ledger_space *older; /* previous space of the same pid, or NULL */
	const struct mt_space *space;  /* the session's space; NULL after the recording */
	bool closed;		       /* its END effect is in the order */
	bool unused;		       /* the child turned out to share another space */
	bool read_once;		       /* /proc/PID/maps was read completely once */
	bool read_in_part;	       /* the present reading was applied only in part */
	uint64_t read;		       /* start of the last complete reading */
	uint64_t reading;	       /* start of the present reading */
	uint64_t changed;	       /* time of the last change other than by a reading */
	uint64_t held, peak, peak_time;
	bool at_peak;
	struct mt_extents *peak_regions; /* NULL while the space is at its peak */
	struct mt_overlaps *overlaps;	 /* NULL before the first call */
	struct mt_copied_space *copies;	 /* MT_COPIES; NULL before the first fork */
	size_t copy_count;
};

/* A zero-initialized table is empty. */
struct mt_ledger_spaces {
	MT_ARRAY(struct mt_ledger_space *) all;
	/* The state of the present recording: */
	size_t from;		  /* index of its first space */
	size_t advised;		  /* spaces before this index have MT_UNSEEN_ADVISED */
	struct mt_map64 by_space; /* id of a struct mt_space to index */
	struct mt_map64 by_pid;	  /* pid to index of its last space */
};

void mt_ledger_spaces_deinit(struct mt_ledger_spaces *spaces);

/*
 * The ledger's space for a space of the session. A new space is created as one of `recording`.
 * Valid until deinit.
 */
struct mt_ledger_space *mt_ledger_spaces_of(struct mt_ledger_spaces *spaces,
					    const struct mt_space *space, uint32_t recording);

/* The space of a pid for the next effect: the last one that began and has not ended, or NULL. */
struct mt_ledger_space *mt_ledger_spaces_of_pid(struct mt_ledger_spaces *spaces, int32_t pid);

/* Marks all living spaces as MT_UNSEEN_ADVISED: process_madvise may have taken their pages. */
void mt_ledger_spaces_doubt_pages(struct mt_ledger_spaces *spaces);

/* Drops the session's spaces; later ones are of the next recording. */
void mt_ledger_spaces_end_recording(struct mt_ledger_spaces *spaces);

#endif
