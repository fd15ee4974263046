/*
 * Residence: the resident pages of each address space, who touched them, and who reserved the
 * memory.
 *
 * 1. If the recording has each change of the kernel's count (kmem:rss_stat, Linux 6.2 and later),
 *    the figures add up to the count. Pages that no fault explains are held by a cause, such as
 *    fork.
 * 2. Otherwise each distinct touched page counts once, and the difference to the kernel's count is
 *    a separate holding.
 */
#ifndef MT_REPORT_RESIDENCE_RESIDENCE_H
#define MT_REPORT_RESIDENCE_RESIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/ledger/ledger.h"

struct mt_page_map;
struct mt_residence;

/* Pages that one stack touched, or that were added or removed for one cause. */
struct mt_holding {
	const struct mt_ledger_space *space;
	uint32_t toucher, reserver; /* origin ids of the ledger */
	uint32_t attrs;		    /* attributes id of the ledger */
	int64_t pages;		    /* resident pages; negative: pages taken from unknown holders */
	int64_t swapped;	    /* swapped-out pages */
	bool huge;		    /* the pages were added as huge pages of anonymous memory */
	int64_t count;		    /* faults, or changes of the kernel's count, that added pages */
};

struct mt_residence_options {
	/* True if the recording has each change of the kernel's count. */
	bool (*each)(void *context, uint32_t recording);
	/*
	 * Called at each change of a holding; `more` has the pages, swapped pages and changes that
	 * are added. May be NULL.
	 */
	void (*held)(void *context, const struct mt_ledger *ledger, const struct mt_holding *more,
		     uint64_t time);
	/*
	 * Called when the ledger calls `remaining`, with the pages that were touched and not given
	 * back. May be NULL.
	 */
	void (*remaining)(void *context, const struct mt_ledger *ledger,
			  const struct mt_ledger_space *space, const struct mt_extents *regions,
			  uint64_t time, const struct mt_page_map *touched);
	void *context;
	bool peak;	    /* report each space at its peak of resident pages */
	bool ended_at_peak; /* report ended spaces at their peak: many free all at exit */
	bool huge;	    /* add AnonHugePages beyond huge faults; only for sums of huge pages */
	bool moment;	    /* the ledger stops before the recording's end */
	/*
	 * Report each space at the last reading of its /proc/PID/status, so that all holdings are
	 * of the same moment.
	 */
	bool as_read;
};

/* Copies options. */
struct mt_residence *mt_residence_create(const struct mt_residence_options *options);
void mt_residence_destroy(struct mt_residence *residence);

/* Sets the callbacks of the ledger's options and their context. */
void mt_residence_listen(struct mt_residence *residence, struct mt_ledger_options *options);

/* The holdings, by index below the count. Call after the ledger's run. */
size_t mt_residence_count(const struct mt_residence *residence);
struct mt_holding mt_residence_get(const struct mt_residence *residence, size_t index);

#endif
