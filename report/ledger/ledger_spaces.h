/*
 * The address spaces of a ledger, with what it keeps beside each: found by the session's space, and
 * by pid.
 */
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

/* A child that was made while other threads may have been in calls. */
struct mt_copied_space {
	struct mt_ledger_space *child;
	uint64_t since, time; /* it was copied between these */
};

enum {
	MT_COPIES = 8, /* the last ones */
};

/* What the ledger keeps beside a space. */
struct mt_ledger_watch {
	struct mt_ledger_space *older; /* the one before it of the same pid, or NULL */
	const struct mt_space *space;  /* as the session has it, while it reads this recording */
	bool closed;		       /* its end stands in the order */
	bool unused;		       /* its child shares another space after all */
	bool read_once;		       /* a whole reading of /proc/PID/maps has been taken */
	bool read_in_part;	       /* pieces of the present one are left to the next */
	uint64_t read;		       /* when the last one that was taken as a whole began */
	uint64_t reading;	       /* when the present one began */
	uint64_t changed; /* when its account was changed last, by other than readings */
	uint64_t held, peak, peak_time;
	bool at_peak;
	struct mt_extents *peak_regions; /* NULL while at the peak */
	struct mt_overlaps *overlaps;	 /* NULL before the first call */
	struct mt_copied_space copies[MT_COPIES];
	size_t copy_count;
};

/* All zero: none. */
struct mt_ledger_spaces {
	MT_ARRAY(struct mt_ledger_space *) all;
	/* Of the present recording: */
	size_t from;		  /* index of its first one */
	size_t advised;		  /* spaces of which process_madvise may have taken pages */
	struct mt_map64 by_space; /* id of a struct mt_space to index */
	struct mt_map64 by_pid;	  /* to index of the last one of that pid */
};

void mt_ledger_spaces_deinit(struct mt_ledger_spaces *spaces);

/*
 * The ledger's space of the session's, made where it is new, as one of that recording. NULL out of
 * memory. It holds until deinit.
 */
struct mt_ledger_space *mt_ledger_spaces_of(struct mt_ledger_spaces *spaces,
					    const struct mt_space *space, uint32_t recording);

/* The last space of a pid that has not ended; NULL where there is none. */
struct mt_ledger_space *mt_ledger_spaces_of_pid(struct mt_ledger_spaces *spaces, int32_t pid);

/* Any that has not ended may have lost pages by process_madvise. */
void mt_ledger_spaces_doubt_pages(struct mt_ledger_spaces *spaces);

/* The session's spaces are no more: what comes is of the next recording. */
void mt_ledger_spaces_end_recording(struct mt_ledger_spaces *spaces);

#endif
