/*
 * The parts of a residence, for its own files alone: residence.c (ranges given back, pages
 * touched), residence_steps.c (what a change of the kernel's counts means), residence_holders.c
 * (what holds pages, and how many).
 */
#ifndef MT_REPORT_RESIDENCE_RESIDENCE_PARTS_H
#define MT_REPORT_RESIDENCE_RESIDENCE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "report/residence/page_map.h"
#include "report/residence/residence.h"

struct mt_byte_runs;

enum {
	MT_PAGE_SHIFT = 12,
	MT_HUGE_PAGES = 512,		   /* of a huge page */
	MT_HOLDER_NONE = 0,		   /* no holder */
	MT_PAGES_WHOLE = MT_PAGES_MEMBERS, /* a reading of all members but those swapped out */
	MT_PAGES_READ,
};

/* An address space's pages. */
struct mt_book {
	const struct mt_ledger_space *space;
	struct mt_page_map map;
	MT_ARRAY(uint32_t) counts; /* indices of counts that are this book's, or were */
	bool closed;
	int64_t total, peak; /* pages */
	uint32_t epoch;	     /* of the peak */
	int64_t pending;     /* of total, what the kernel's counts do not hold yet */
	uint64_t touched;    /* time of the last fault */
	uint32_t origin;     /* of it */
};

/* What holds pages: interned, its number is the holder in page maps. */
struct mt_holder_key {
	uint32_t book, toucher, reserver, nature;
	uint32_t member; /* what the kernel counts it as */
};

struct mt_holder {
	int64_t pages, swapped, count;
	int64_t since, swapped_since, count_since; /* the peak of that epoch */
	uint32_t epoch;
};

/* The kernel's counts of one address space, in pages. */
struct mt_page_counts {
	uint32_t book; /* index + 1, or 0: not known whose */
	bool seen[MT_PAGES_MEMBERS];
	int64_t value[MT_PAGES_MEMBERS];
	int64_t first[MT_PAGES_MEMBERS];
	uint64_t time; /* of the last */
};

/* What /proc said of a process's counts. */
struct mt_page_reading {
	int32_t pid;
	uint32_t member; /* or MT_PAGES_WHOLE */
	uint64_t time;
	size_t number; /* in the recording */
	int64_t pages;
};

/* What a thread did last. */
struct mt_toucher {
	bool faulting; /* and the fault may have changes to come */
	uint32_t book; /* index, of the fault */
	uint64_t page, time;
	uint64_t first, end;	  /* pages of the region that it is in */
	struct mt_holder_key key; /* of who holds its page, but for the member */
	uint32_t given;		  /* members that the fault has added to: bits */
	uint64_t advised;	  /* when the madvise call began whose pages are taken already */
	uint64_t from, to;	  /* pages added last by a call of it */
	uint32_t pending_book;	  /* index, whose pending pages these are: */
	int64_t pending;	  /* touched since the kernel last summed up the thread's counts */
};

struct mt_residence {
	struct mt_residence_options options;
	MT_ARRAY(struct mt_book *) books;
	struct mt_byte_runs *keys;
	MT_ARRAY(struct mt_holder) holders; /* by id in keys + 1 */
	struct mt_map64 by_space;	    /* address of a ledger's space to index in books */
	/* Of the present recording: */
	uint32_t recording;
	bool each, each_known;
	const struct mt_ledger *ledger; /* of the event in hand, */
	uint64_t now;			/* and its time */
	bool untold;			/* somebody could not be told of a change: out of memory */
	struct mt_map64 by_mm;		/* to index in counts */
	struct mt_map64 by_tid;		/* to index in touchers */
	MT_ARRAY(struct mt_page_counts) counts;
	MT_ARRAY(struct mt_toucher) touchers;
	MT_ARRAY(struct mt_page_reading) readings;
	bool readings_sorted; /* by process, member and time */
};

/* ---- residence_holders.c ---- */

/* Forgets what holds in one recording alone, where this is another. */
void mt_residence_begin(struct mt_residence *r, uint32_t recording);

/* Index of the space's book, made where it is new; UINT32_MAX out of memory. */
uint32_t mt_residence_book(struct mt_residence *r, const struct mt_ledger_space *space);

/* NULL out of memory; they hold until the next one is made. */
struct mt_toucher *mt_residence_toucher(struct mt_residence *r, int32_t tid);
struct mt_page_counts *mt_residence_counts_of(struct mt_residence *r, uint64_t mm);

/* MT_HOLDER_NONE out of memory. */
uint32_t mt_residence_holder(struct mt_residence *r, const struct mt_holder_key *key);

/* What of a book came or went for a reason, by the task of `origin`; the same. */
uint32_t mt_residence_cause(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
			    uint32_t origin, enum mt_origin_kind why, uint32_t member);

/* So many pages more, resident or swapped out; so many changes more. */
void mt_residence_hold(struct mt_residence *r, uint32_t book, uint32_t id, int64_t pages);
void mt_residence_hold_swapped(struct mt_residence *r, uint32_t book, uint32_t id, int64_t pages);
void mt_residence_count_changes(struct mt_residence *r, uint32_t book, uint32_t id,
				int64_t changes);

/* When a change has been put down to its holders: how many pages it was. */
void mt_residence_note_total(struct mt_book *book, int64_t pages);

/*
 * Where counts are batched: so many pages more, or fewer, that a thread has touched and the
 * kernel's counts do not hold.
 */
void mt_residence_note_pending(struct mt_residence *r, struct mt_toucher *toucher, uint32_t book,
			       int64_t pages);

/*
 * The first that /proc said of a process, and the last that it said up to a time; NULL where it
 * said nothing. They hold until the next reading is taken.
 */
const struct mt_page_reading *mt_residence_first_reading(struct mt_residence *r, int32_t pid,
							 uint32_t member);
const struct mt_page_reading *mt_residence_last_reading(struct mt_residence *r, int32_t pid,
							uint32_t member, uint64_t until);

/* The counts are that book's from now on; false out of memory. */
bool mt_residence_bind(struct mt_residence *r, struct mt_page_counts *counts, uint32_t book);

/* Those of a book, from *at on: its first one, which *at is moved behind; NULL: none is left. */
struct mt_page_counts *mt_residence_next_counts(struct mt_residence *r, uint32_t book, size_t *at);

/* Whether all of a space's pages came within the recording. */
bool mt_residence_born(const struct mt_ledger_space *space);

/* What is told of from now on is of that event. */
static inline void mt_residence_note(struct mt_residence *r, const struct mt_ledger *ledger,
				     uint64_t time)
{
	r->ledger = ledger;
	r->now = time;
}

/* ---- residence.c ---- */

/* Takes a range from its holders; how many pages really were resident the counts tell. */
bool mt_residence_give_back(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
			    uint64_t first, uint64_t end, uint32_t origin, enum mt_origin_kind why);

/* ---- residence_steps.c ---- */

/* A count of the kernel's has changed; a callback of the ledger. */
bool mt_residence_counted(void *residence, const struct mt_ledger *ledger,
			  const struct mt_ledger_count *told);

#endif
