/*
 * Private parts of residence, shared by residence.c (ranges given back, pages touched),
 * residence_steps.c (finds the causes of changes of the kernel's counts) and residence_holders.c
 * (holders and their sums).
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
	MT_HUGE_PAGES = 512, /* 4 KiB pages of a huge page */
	MT_HOLDER_NONE = 0,
	MT_PAGES_WHOLE =
		MT_PAGES_MEMBERS, /* a reading of all members except the swapped-out pages */
	MT_PAGES_HUGE,		  /* a reading of anonymous huge pages, in 4 KiB pages */
	MT_PAGES_READ,
};

/* The pages of an address space. */
struct mt_book {
	const struct mt_ledger_space *space;
	struct mt_page_map map;
	MT_ARRAY(uint32_t) counts; /* indices of the counts that are or were bound to this book */
	bool closed;
	int64_t total, peak; /* resident pages now, and at the peak */
	int64_t huge;	     /* pages of holders of huge pages */
	uint32_t epoch;	     /* incremented at each new peak */
	int64_t pending;     /* pages in total that the kernel's batched counts do not have yet */
	uint64_t touched;    /* time of the last fault */
	uint32_t origin;     /* of the last fault by the process itself */
	uint64_t read;	     /* time of the last reading for `as_read`; UINT64_MAX: none */
	int64_t late;	     /* resident pages added since that reading */
};

/* The key of a holder. Holder ids in page maps are interned keys. */
struct mt_holder_key {
	uint32_t book, toucher, reserver, attrs;
	uint32_t member; /* the kernel's counter: enum mt_page_member */
	uint32_t huge;	 /* bool: anonymous memory that was added as huge pages */
};

struct mt_holder {
	bool huge; /* as in the holder's key */
	int64_t pages, swapped, count;
	int64_t since, swapped_since, count_since; /* changes since the peak of `epoch` */
	int64_t late, swapped_late, count_late;	   /* changes since the book's last reading */
	uint32_t epoch;
};

/* The kernel's counts for one address space, in pages. */
struct mt_page_counts {
	uint32_t book; /* index + 1 of the book; 0: unknown */
	bool seen[MT_PAGES_MEMBERS];
	int64_t value[MT_PAGES_MEMBERS];
	int64_t first[MT_PAGES_MEMBERS];
	uint64_t time; /* of the last change */
};

/* A count of a process, read from /proc. */
struct mt_page_reading {
	int32_t pid;
	uint32_t member; /* enum mt_page_member, or MT_PAGES_WHOLE */
	uint64_t time;
	size_t number; /* index in the recording */
	int64_t pages;
};

/* A thread's last fault and call. */
struct mt_toucher {
	bool faulting; /* the last fault may still change counts */
	uint32_t book; /* index of the fault's book */
	uint64_t page, time;
	uint64_t first, end;	  /* pages of the region with the fault */
	struct mt_holder_key key; /* of the holder of the faulting page; `member` is set later */
	uint32_t given;		  /* bits of the members to which the fault has added pages */
	uint64_t advised;	  /* entry of the madvise call whose pages are already taken */
	uint64_t from, to;	  /* pages mapped last by a call of the thread */
	uint32_t pending_book;	  /* index of the book with the pending pages */
	int64_t pending; /* pages touched since the kernel last added up the thread's counts */
};

struct mt_residence {
	struct mt_residence_options options;
	MT_ARRAY(struct mt_book *) books;
	struct mt_byte_runs *keys;
	MT_ARRAY(struct mt_holder) holders; /* by id in keys, plus 1 */
	struct mt_map64 by_space;	    /* address of the ledger's space to index in books */
	/* The state of the present recording: */
	uint32_t recording;
	bool each, each_known;
	/* Ledger and time of the current event. */
	const struct mt_ledger *ledger;
	uint64_t now;
	struct mt_map64 by_mm;	/* kernel's id of a space to index in counts */
	struct mt_map64 by_tid; /* tid to index in touchers */
	MT_ARRAY(struct mt_page_counts) counts;
	MT_ARRAY(struct mt_toucher) touchers;
	MT_ARRAY(struct mt_page_reading) readings;
	bool readings_sorted; /* by pid, member and time */
};

/* ---- residence_holders.c ---- */

/* Drops the state of the previous recording, if `recording` is another. */
void mt_residence_begin(struct mt_residence *r, uint32_t recording);

/* Index of the space's book, created if new. */
uint32_t mt_residence_book(struct mt_residence *r, const struct mt_ledger_space *space);

/* A thread's state and a space's counts, created if new. Valid until the next one is created. */
struct mt_toucher *mt_residence_toucher(struct mt_residence *r, int32_t tid);
struct mt_page_counts *mt_residence_counts_of(struct mt_residence *r, uint64_t mm);

/* The id of a holder. */
uint32_t mt_residence_holder(struct mt_residence *r, const struct mt_holder_key *key);

/*
 * The id of the holder of pages of a book that were added or removed for the cause `why` by the
 * task of `origin`.
 */
uint32_t mt_residence_cause(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
			    uint32_t origin, enum mt_origin_kind why, uint32_t member);

/* Add resident pages, swapped-out pages or changes to a holder. */
void mt_residence_hold(struct mt_residence *r, uint32_t book, uint32_t id, int64_t pages);
void mt_residence_hold_swapped(struct mt_residence *r, uint32_t book, uint32_t id, int64_t pages);
void mt_residence_count_changes(struct mt_residence *r, uint32_t book, uint32_t id,
				int64_t changes);

/* Adds pages to a book's total. Call after all of a change's holders are updated. */
void mt_residence_note_total(struct mt_book *book, int64_t pages);

/* Adds pages that a thread has touched and that the kernel's batched counts do not have yet. */
void mt_residence_note_pending(struct mt_residence *r, struct mt_toucher *toucher, uint32_t book,
			       int64_t pages);

/*
 * The first reading of a process, and the last one up to `until`; NULL if there is none. Borrowed
 * until the next reading is taken.
 */
const struct mt_page_reading *mt_residence_first_reading(struct mt_residence *r, int32_t pid,
							 uint32_t member);
const struct mt_page_reading *mt_residence_last_reading(struct mt_residence *r, int32_t pid,
							uint32_t member, uint64_t until);

/* Binds the counts to a book. */
void mt_residence_bind(struct mt_residence *r, struct mt_page_counts *counts, uint32_t book);

/* Iterates over the counts of a book. Start with *at = 0. Returns NULL at the end. */
struct mt_page_counts *mt_residence_next_counts(struct mt_residence *r, uint32_t book, size_t *at);

/*
 * True if the space began within the recording, by fork or exec, so all its pages were added then.
 */
bool mt_residence_born(const struct mt_ledger_space *space);

/* Sets the event that later changes are reported with. */
static inline void mt_residence_note(struct mt_residence *r, const struct mt_ledger *ledger,
				     uint64_t time)
{
	r->ledger = ledger;
	r->now = time;
}

/* Marks the pages of a range as small, because their huge page was split. */
void mt_residence_split(struct mt_residence *r, uint32_t book, uint64_t first, uint64_t end);

/*
 * Takes the pages of a range from their holders. With each change of the counts, gives the pages to
 * the cause `why`: the counts say later how many were resident.
 */
void mt_residence_give_back(struct mt_residence *r, const struct mt_ledger *ledger, uint32_t book,
			    uint64_t first, uint64_t end, uint32_t origin, enum mt_origin_kind why);

/* ---- residence_steps.c ---- */

/* The ledger's callback `counted`. */
void mt_residence_counted(void *residence, const struct mt_ledger *ledger,
			  const struct mt_ledger_count *reported);

#endif
