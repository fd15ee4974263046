/*
 * The ledger: follows every call that changes an address space through a recording, in the order in
 * which they took effect, and tells what came and went, on whose account, and how each space stood
 * in the end - or at its peak, or at a moment.
 */
#ifndef MT_REPORT_LEDGER_LEDGER_H
#define MT_REPORT_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/account/account.h"
#include "report/account/nature.h"
#include "report/cli/request.h"
#include "report/ledger/origins.h"
#include "report/ledger/page_events.h"

struct mt_error;
struct mt_gauge_record;
struct mt_ledger;
struct mt_session;
struct mt_strings;
struct mt_timespan;

/* An address space over its life in the recording. Holds as long as the ledger. */
struct mt_ledger_space {
	uint32_t recording; /* index in facts->recordings */
	int32_t pid;
	uint32_t generation;	       /* how many execs of this process came before it */
	uint32_t comm;		       /* string id, of the thread that was heard of last */
	uint64_t start_time;	       /* clock ticks since boot, or ns of its fork; 0 unknown */
	uint64_t began, ended;	       /* ns; ended 0: lived on */
	bool execed;		       /* ended by exec */
	bool uncertain;		       /* records about it may have been lost */
	uint32_t unseen;	       /* enum mt_unseen_calls: whose figures may be off by them */
	uint64_t mapped;	       /* bytes mapped now */
	struct mt_account *account;    /* NULL once it has been told how it stood */
	struct mt_ledger_watch *watch; /* private to the ledger */
};

/* Every change, as it is put in order. space->account has it already. */
struct mt_ledger_change {
	const struct mt_ledger_space *space;
	const struct mt_change *change;
	const struct mt_origin *origin;
	const struct mt_nature *nature;
};

/* A page fault, before the kernel sees to it; or how many pages in a row it took for that. */
struct mt_ledger_touch {
	const struct mt_ledger_space *space;
	uint64_t time, address;
	uint32_t origin; /* who touched it */
	int32_t tid;
	uint32_t order; /* above 0: of the thread's last fault, and nothing else holds */
};

/* The kernel's count of an address space's pages changed. */
struct mt_ledger_count {
	const struct mt_ledger_space *space; /* the thread's, whichever the count is of */
	uint64_t time;
	const struct mt_page_count *count;
	uint32_t origin; /* the thread, without a stack; of kind MT_ORIGIN_UNSEEN */
	int32_t tid;
};

struct mt_ledger_options {
	struct mt_at at;
	/*
	 * Either may be NULL; false out of memory. `stood` is called once for each space, when it
	 * ends or the recording does, with its regions as they stood at the time asked for.
	 */
	bool (*change)(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *change);
	bool (*stood)(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time);
	/*
	 * A call has touched all pages of a range itself, or given them back, and it stays
	 * reserved. May be NULL; in the same order.
	 */
	bool (*advised)(void *context, const struct mt_ledger_space *space,
			const struct mt_range *range, bool touched);
	/*
	 * Either all of these or none: single pages, in the same order as changes. False out of
	 * memory.
	 */
	bool stackless; /* touches need no stacks, which cost time */
	bool (*touched)(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_touch *touch);
	bool (*counted)(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_count *count);
	/* Pages of a space are elsewhere now. */
	bool (*moved)(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, uint64_t from, uint64_t to,
		      uint64_t size);
	/* What /proc said of a process; of each recording before all that happened in it. */
	bool (*gauged)(void *context, uint32_t recording, const struct mt_gauge_record *gauge);
	void *context;
};

/*
 * Follows the session from now on, which is before its first sample is asked for: somebody else
 * reads it to its end. What the session is asked for stays as it is, and recordings without any
 * such call are passed over. The ledger borrows session and options. It is whole once
 * mt_ledger_end() has been called.
 */
struct mt_error *mt_ledger_begin(struct mt_session *session,
				 const struct mt_ledger_options *options, struct mt_ledger **out);
void mt_ledger_end(struct mt_ledger *ledger);

/* Reads the whole session. The ledger borrows it, and options' context. */
struct mt_error *mt_ledger_run(struct mt_session *session, const struct mt_ledger_options *options,
			       struct mt_ledger **out);
void mt_ledger_destroy(struct mt_ledger *ledger);

/* Ids in regions, as long as the ledger. Within its callbacks, too. */
const struct mt_origin *mt_ledger_origin(const struct mt_ledger *ledger, uint32_t id);
const struct mt_natures *mt_ledger_natures(const struct mt_ledger *ledger);

/* The same task as another origin's, for another reason; UINT32_MAX out of memory. */
uint32_t mt_ledger_because(const struct mt_ledger *ledger, uint32_t origin,
			   enum mt_origin_kind kind);

/* Whether records of page events were lost between two times. */
bool mt_ledger_pages_lost(const struct mt_ledger *ledger, uint64_t from, uint64_t to);

/* Within `stood`: whether a region was there before the fork that made the space. */
bool mt_ledger_inherited(const struct mt_ledger_space *space, const struct mt_extent *region);

/* Within `stood`: how many bytes of a region may not be there: in doubt, or lost records later. */
uint64_t mt_ledger_doubtful(const struct mt_ledger *ledger, const struct mt_ledger_space *space,
			    const struct mt_extent *region);

#endif
