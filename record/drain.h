/*
 * Emptying the rings of one CPU: a thread pinned there, real-time where that is allowed, that
 * copies records into blocks and hands them on. It takes the dump's unused bytes out and counts; it
 * never compresses, writes a file or waits for the target.
 */
#ifndef MT_RECORD_DRAIN_H
#define MT_RECORD_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/events.h"
#include "record/ring.h"

struct mt_drain;
struct mt_error;
struct mt_map64;
struct mt_plan;
struct mt_spool;

/* What all drains share; borrowed, and constant while they run. */
struct mt_drain_config {
	const struct mt_plan *plan;
	const struct mt_map64 *ids; /* kernel event id -> index in the plan */
	struct mt_spool *spool;
	pid_t self; /* its samples are dropped: the recorder does not record itself */
};

struct mt_drain_counts {
	uint64_t samples;   /* of events of role sample, passed on */
	uint64_t records;   /* all, passed on */
	uint64_t raw_bytes; /* as the kernel wrote them */
	uint64_t lost;	    /* told by LOST records */
	uint64_t own;	    /* the recorder's own samples, dropped */
	uint64_t odd;	    /* records that made no sense */
	uint64_t stalls;    /* passes that found no free block */
};

enum mt_priority {
	MT_PRIORITY_REALTIME,
	MT_PRIORITY_NICE,   /* nice -20 */
	MT_PRIORITY_NORMAL, /* whatever mtrec was started with */
};

/*
 * Starts the thread for the rings of one CPU (indexed by class; a class without a ring has page
 * NULL). Rings and config are borrowed until destroyed. Stream numbers are 2 * slot + class.
 */
struct mt_error *mt_drain_create(int cpu, uint32_t slot, struct mt_ring rings[MT_CLASSES],
				 const struct mt_drain_config *config, struct mt_drain **out);

/*
 * Asks for a pass that begins after this call and hands every record on; mt_drain_wait() returns
 * when that is done.
 */
void mt_drain_flush(struct mt_drain *drain);
void mt_drain_wait(struct mt_drain *drain);

/* A last flush, then ends the thread. NULL-safe. */
void mt_drain_destroy(struct mt_drain *drain);

/* What has passed through so far; may be asked at any time. */
struct mt_drain_counts mt_drain_counts(const struct mt_drain *drain);

/* What the thread got, once a first flush has been waited for. */
enum mt_priority mt_drain_priority(const struct mt_drain *drain);

#endif
