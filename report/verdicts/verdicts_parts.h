/* The state of struct mt_verdicts: collected by verdicts.c, judged by judged_paths.c. */
#ifndef MT_REPORT_VERDICTS_VERDICTS_PARTS_H
#define MT_REPORT_VERDICTS_VERDICTS_PARTS_H

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "report/account/call.h"
#include "report/account/extents.h"
#include "report/residence/mapping_readings.h"
#include "report/residence/page_map.h"
#include "report/tables/byte_runs.h"
#include "report/verdicts/history.h"
#include "report/verdicts/tierless_paths.h"
#include "report/verdicts/verdicts.h"

#define MT_VERDICTS_BURST ((uint64_t)1000000000) /* ns, the interval of gauge readings */

/* Bytes that were returned, with the times of return and reservation. */
struct mt_verdicts_returned {
	uint64_t time, reserved;
	double bytes;
};

struct mt_verdicts_entry {
	struct mt_history history;
	/* At least the returns of the last MT_VERDICTS_BURST; at late_limit older ones go. */
	MT_ARRAY(struct mt_verdicts_returned) late;
	size_t late_limit;
	bool forgiven; /* the last returns count as held, so their pages are not compared */
	struct mt_tierless_place place;
	uint32_t stack; /* of a path: one of its stacks */
	/* Bytes reserved: in total, in the heap, of mapped files, for stacks of threads. */
	double reserved, heap, files, stacks;
	double held;	   /* bytes of touched pages at the end that were not given back */
	double advised;	   /* bytes of pages that madvise gave back while they stayed reserved */
	uint64_t advices;  /* number of these calls */
	double newest;	   /* bytes of the last reservation */
	uint64_t returned; /* number of returns */
};

struct mt_verdicts_space {
	uint64_t began, end;
	double older_back; /* bytes held before the recording and unmapped during it */
	/* Bytes of reserved address space without any access: before the recording, at the end. */
	double closed_before, closed;
	double closing; /* `closed` at present, by changes alone */
	double stable;	/* `closing` before the last burst: a process may unmap all at its end */
	uint64_t stable_until;	/* when the last burst of changes began */
	struct mt_range opened; /* range without access that was unmapped last */
	uint64_t opened_at;	/* when: the same call may map the range for use */
	bool ended;		/* the process ended, not only the requested time */
	uint32_t recording, process;
	int32_t pid;
	struct mt_page_map touched; /* each touched page has a holder */
	bool faults, pages_lost;    /* faults were recorded; records of faults are missing */
};

struct mt_verdicts_scale {
	struct mt_history_scale history;
	uint64_t to; /* end of the requested time */
};

struct mt_verdicts {
	struct mt_session *session;
	bool stacks;
	uint32_t heap;		 /* stack id of "[heap]", in place of all paths that call brk */
	uint32_t collected_heap; /* likewise, for pages of a garbage collector */
	uint32_t stackless;	 /* likewise, for calls that were recorded without a stack */
	const struct mt_timespan *time;
	struct mt_byte_runs *places; /* keys of entries */
	MT_ARRAY(struct mt_verdicts_entry) entries;
	MT_ARRAY(struct mt_verdicts_space) spaces;
	MT_ARRAY(struct mt_verdicts_scale) scales; /* by recording */
	MT_ARRAY(struct mt_verdict_row) rows;
	struct mt_map64 by_space; /* space of the ledger to index */
	struct mt_map64 by_pid;	  /* pid_key() to index */
	bool pages;		  /* the ledger reports pages */
	struct mt_mapping_readings readings;
	struct mt_verdicts_also also;
	struct mt_verdicts_regions regions;
};

/*
 * True if all faults on remaining memory were recorded: faults were neither sampled nor lost, and
 * no time is selected.
 */
bool mt_verdicts_know_pages(const struct mt_verdicts *verdicts,
			    const struct mt_verdicts_space *space);

#endif
