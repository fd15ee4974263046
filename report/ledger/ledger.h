/*
 * The ledger follows every call that changes an address space through a recording, in the order in
 * which the calls took effect. The ledger reports each change with its origin, and the regions of
 * each space at the end of the space, at its peak, or at a moment.
 */
#ifndef MT_REPORT_LEDGER_LEDGER_H
#define MT_REPORT_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/account/account.h"
#include "report/account/region_attrs.h"
#include "report/ledger/origins.h"
#include "report/ledger/page_events.h"
#include "report/session/timespan.h"

struct mt_error;
struct mt_gauge_record;
struct mt_ledger;
struct mt_session;
struct mt_strings;
struct mt_timespan;

/* An address space over its life in the recording. Valid as long as the ledger. */
struct mt_ledger_space {
	uint32_t recording; /* index into facts->recordings */
	int32_t pid;
	uint32_t generation;	    /* execs of this process before this space */
	uint32_t comm;		    /* string id, of the thread seen last */
	uint64_t start_time;	    /* clock ticks since boot, or ns of its fork; 0: unknown */
	uint64_t began, ended;	    /* ns; ended is 0 for a space that outlives the recording */
	bool execed;		    /* the space ended by exec */
	bool uncertain;		    /* records about the space may have been lost */
	uint32_t unseen;	    /* bits of enum mt_unseen_calls; if not 0, figures may be off */
	uint64_t mapped;	    /* bytes mapped at present */
	struct mt_account *account; /* NULL after `remaining` */
	struct mt_ledger_watch *watch; /* private to the ledger */
};

/* A change, reported in order; space->account already has it. */
struct mt_ledger_change {
	const struct mt_ledger_space *space;
	const struct mt_change *change;
	const struct mt_origin *origin;
	const struct mt_region_attrs *attrs;
};

/* A page fault, reported before the kernel handles it; or the pages that it allocated. */
struct mt_ledger_touch {
	const struct mt_ledger_space *space;
	uint64_t time, address;
	uint32_t origin; /* of the thread that touched the page */
	int32_t tid;
	/*
	 * 0: a fault. Above 0: the kernel allocated 2^order pages for the thread's last fault;
	 * address is not set.
	 */
	uint32_t order;
};

/* The kernel's count of an address space's pages changed. */
struct mt_ledger_count {
	const struct mt_ledger_space *space; /* the thread's, even for a count of another space */
	uint64_t time;
	const struct mt_page_count *count;
	uint32_t origin; /* of kind MT_ORIGIN_UNSEEN, with the thread but no stack */
	int32_t tid;
};

struct mt_ledger_options {
	struct mt_at at;
	/*
	 * Both may be NULL. `remaining` is called once for each space, when the space or the
	 * recording ends, with the regions of the space at the time of `at`.
	 */
	void (*change)(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *change);
	void (*remaining)(void *context, const struct mt_ledger *ledger,
			  const struct mt_ledger_space *space, const struct mt_extents *regions,
			  uint64_t time);
	/*
	 * Called when mprotect gave mapped memory some access or removed all access; with sign 0,
	 * when a call changed other attributes. May be NULL.
	 */
	void (*accessed)(void *context, const struct mt_ledger *ledger,
			 const struct mt_ledger_change *change);
	/*
	 * Called when a call touches all pages of a mapped range, or gives these pages back while
	 * the range stays mapped. May be NULL.
	 */
	void (*advised)(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_space *space, const struct mt_range *range,
			bool touched);
	/* Single pages, reported in order with the changes. Set all of the following or none. */
	bool stackless; /* touches are reported without stacks, which saves time */
	void (*touched)(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_touch *touch);
	void (*counted)(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_count *count);
	/* Called when mremap moves pages of a space to another address. */
	void (*moved)(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, uint64_t from, uint64_t to,
		      uint64_t size);
	/* Called for each gauge of a process, before anything else of the recording. */
	void (*gauged)(void *context, uint32_t recording, const struct mt_gauge_record *gauge);
	void *context;
};

/*
 * Makes a ledger that listens while the caller reads the session to its end. Call before the
 * session's first sample. Borrows session and options. The ledger is complete after
 * mt_ledger_end(). `alongside`: the session reads the same events and stacks as without the ledger,
 * and recordings without exits of calls are skipped. Otherwise the session only reads the events
 * and stacks that the ledger needs.
 */
struct mt_ledger *mt_ledger_begin(struct mt_session *session,
				  const struct mt_ledger_options *options, bool alongside);
void mt_ledger_end(struct mt_ledger *ledger);
void mt_ledger_destroy(struct mt_ledger *ledger);

/* Resolve the ids in regions; borrowed as long as the ledger, also valid within its callbacks. */
const struct mt_origin *mt_ledger_origin(const struct mt_ledger *ledger, uint32_t id);
const struct mt_attr_table *mt_ledger_attrs(const struct mt_ledger *ledger);

/* The id of an origin with the same task and another kind. */
uint32_t mt_ledger_because(const struct mt_ledger *ledger, uint32_t origin,
			   enum mt_origin_kind kind);

/* True if records of page events were lost between two times. */
bool mt_ledger_pages_lost(const struct mt_ledger *ledger, uint64_t from, uint64_t to);

/* True if a forked space has a region from before the fork. Call within `remaining`. */
bool mt_ledger_inherited(const struct mt_ledger_space *space, const struct mt_extent *region);

/*
 * Bytes of a region that may not exist: the range is doubtful, or records were lost since. Call
 * within `remaining`.
 */
uint64_t mt_ledger_doubtful(const struct mt_ledger *ledger, const struct mt_ledger_space *space,
			    const struct mt_extent *region);

#endif
