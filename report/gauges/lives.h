/*
 * Processes that began and ended during the recording, by the kernel's FORK, EXIT and COMM (exec)
 * records, and their peaks by the kernel's counts of resident pages (kmem:rss_stat). Most of these
 * processes have no gauges.
 */
#ifndef MT_REPORT_GAUGES_LIVES_H
#define MT_REPORT_GAUGES_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "report/ledger/page_events.h"

struct mt_facts;
struct mt_observed;

struct mt_life {
	uint32_t recording;
	uint32_t comm, cgroup, exe; /* string ids, of its last program */
	int32_t pid;
	uint64_t peak;	       /* resident bytes of its last program; 0: not known */
	uint64_t began, ended; /* ns on the recording's clock */
};

/* A zero-initialized struct is empty. */
struct mt_lives {
	MT_ARRAY(struct mt_life) over; /* ended lives of targets, in order of their ends */
	MT_ARRAY(struct mt_living) living;
	struct mt_map64 by_pid;		      /* pid to index in living */
	MT_ARRAY(struct mt_page_event) pages; /* by event */
};

void mt_lives_deinit(struct mt_lives *lives);

/* Takes a kernel record or a sample; ignores others. */
void mt_lives_take(struct mt_lives *lives, const struct mt_facts *facts,
		   const struct mt_observed *observed);

/* Ends a recording: forgets processes that are still alive. */
void mt_lives_end(struct mt_lives *lives);

#endif
