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
#include "report/verdicts/verdicts.h"

#define MT_VERDICTS_BURST ((uint64_t)1000000000) /* ns, the time between readings of gauges */

/* A stack, or later a path, of a space. */
struct mt_verdicts_place {
	uint32_t space; /* index */
	uint32_t stack; /* id of the stack or path */
};

/* Bytes returned at a time, which were reserved at another. */
struct mt_verdicts_returned {
	uint64_t time, reserved;
	double bytes;
};

struct mt_verdicts_entry {
	struct mt_history history;
	MT_ARRAY(struct mt_verdicts_returned)
	late;
	bool forgiven; /* what they returned counts as held; its pages are gone */
	struct mt_verdicts_place place;
	uint32_t stack; /* of a path: one of its stacks */
	/* Bytes reserved in all, in the heap, of mapped files, and for stacks of threads. */
	double reserved, heap, files, stacks;
	double held;	   /* bytes whose pages are touched and not given back, at the end */
	double advised;	   /* bytes of pages that madvise gave back while they stayed reserved, */
	uint64_t advices;  /* in so many calls */
	double newest;	   /* bytes reserved last */
	uint64_t returned; /* times */
};

struct mt_verdicts_space {
	uint64_t began, end;
	double older_back; /* bytes held before the recording and unmapped during it */
	/*
	 * Bytes without any access, of address space for later: before the recording, at the end.
	 */
	double closed_before, closed;
	double closing;		/* the same by the changes alone, */
	double stable;		/* and as it was before the last burst of them: */
	uint64_t stable_until;	/* a process that ends may first unmap what it has */
	struct mt_range opened; /* of them, what the last call unmapped, */
	uint64_t opened_at;	/* and when: it maps the same range for use */
	bool ended;		/* then, and not only the time that was asked for */
	uint32_t recording, process;
	int32_t pid;
	struct mt_page_map touched; /* each touched page has a holder */
	bool faults, pages_lost;    /* some were seen; or not seen */
};

struct mt_verdicts_scale {
	struct mt_history_scale history;
	uint64_t to; /* the end of the time asked for */
};

struct mt_verdicts {
	struct mt_session *session;
	bool stacks;
	uint32_t heap; /* stack id of words: all paths of a process that call brk move one heap */
	uint32_t collected_heap; /* the same of those that get pages for a garbage collector */
	uint32_t stackless;	 /* the same of calls that were recorded without a stack */
	const struct mt_timespan *time;
	struct mt_byte_runs *places; /* of the entries */
	MT_ARRAY(struct mt_verdicts_entry) entries;
	MT_ARRAY(struct mt_verdicts_space) spaces;
	MT_ARRAY(struct mt_verdicts_scale) scales; /* by recording */
	MT_ARRAY(struct mt_verdict_row) rows;
	struct mt_map64 by_space; /* of the ledger's: index */
	struct mt_map64 by_pid;	  /* of pid_key(): index */
	bool pages;		  /* the ledger tells of them */
	struct mt_mapping_readings readings;
	struct mt_verdicts_also also;
	struct mt_verdicts_regions regions;
};

/*
 * Whether each fault is known of what stands at the end: none sampled, none lost, and the whole
 * time.
 */
bool mt_verdicts_know_pages(const struct mt_verdicts *verdicts,
			    const struct mt_verdicts_space *space);

#endif
