/* --stats: what each stage of a recording did, as a table. */
#ifndef MT_RECORD_STATS_H
#define MT_RECORD_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/writer.h"
#include "record/guest.h"
#include "record/stream.h"

struct mt_stats_ring {
	int cpu;
	enum mt_event_class class;
	size_t size; /* of the ring */
	struct mt_stream_counts counts;
};

struct mt_stats {
	const struct mt_stats_ring *rings;
	size_t ring_count;
	uint64_t wakes; /* of all drains */
	const char *priority;
	struct mt_memory_share memory;
	size_t spool_peak;
	uint64_t fast, hurried;
	struct mt_writer_counts writer;
	bool locked;
	int oom_adj;
	double seconds;
};

/* Adds what /proc and getrusage say of this process, and prints all. */
void mt_stats_print(const struct mt_stats *stats, FILE *to);

#endif
