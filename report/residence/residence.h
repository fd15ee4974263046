/*
 * Residence: which pages of each address space are resident, who touched them, and who had reserved
 * the memory. Where the kernel tells of each change of its own count (kmem:rss_stat, 6.2 and
 * later), figures add up to that count; what no fault explains is held by a cause. Elsewhere each
 * distinct page that was touched counts, and what the kernel's counts say beyond that is a holding
 * of its own.
 */
#ifndef MT_REPORT_RESIDENCE_RESIDENCE_H
#define MT_REPORT_RESIDENCE_RESIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/ledger/ledger.h"

struct mt_residence;

/* Pages that one stack touched, or that came or went for one cause. */
struct mt_holding {
	const struct mt_ledger_space *space;
	uint32_t toucher, reserver; /* origins in the ledger */
	uint32_t nature;	    /* id */
	int64_t pages;		    /* resident; below 0: of others that were not told apart */
	int64_t swapped;	    /* pages */
	int64_t count;		    /* faults, or changes of the kernel's count, that added some */
};

struct mt_residence_options {
	/* Whether that recording tells of each change. */
	bool (*each)(void *context, uint32_t recording);
	/*
	 * Each change of a holding when it happens: by how many pages, swapped ones and changes it
	 * became more. May be NULL; false out of memory.
	 */
	bool (*held)(void *context, const struct mt_ledger *ledger, const struct mt_holding *more,
		     uint64_t time);
	void *context;
	bool peak;   /* each space as it stood when most was resident */
	bool moment; /* the ledger stops at a moment before the end */
};

/* NULL out of memory. options are copied. */
struct mt_residence *mt_residence_create(const struct mt_residence_options *options);
void mt_residence_destroy(struct mt_residence *residence);

/* Sets all callbacks of the ledger that tell it what happens. */
void mt_residence_listen(struct mt_residence *residence, struct mt_ledger_options *options);

/* When the ledger has run: the holdings, by index below the count. */
size_t mt_residence_count(const struct mt_residence *residence);
struct mt_holding mt_residence_get(const struct mt_residence *residence, size_t index);

#endif
