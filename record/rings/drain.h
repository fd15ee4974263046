/*
 * The threads that drain the rings: one per CPU, pinned there, real-time if that is allowed. They
 * copy records into blocks and push the blocks to the spool; they never compress, write a file or
 * wait for the target.
 */
#ifndef MT_RECORD_RINGS_DRAIN_H
#define MT_RECORD_RINGS_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/records/events.h"
#include "record/open/ring.h"
#include "record/rings/self_limits.h"
#include "record/rings/stream.h"

struct mt_drain;
struct mt_error;

/*
 * Creates the drain of one CPU's rings (indexed by class; page NULL: no ring). Borrows rings and
 * config. Stream numbers are 2 * slot + class.
 */
struct mt_error *mt_drain_create(int cpu, uint32_t slot, struct mt_ring rings[MT_CLASSES],
				 const struct mt_stream_config *config, struct mt_drain **out);

/*
 * Starts the thread, and returns when it is ready. The thread helps the drain buddy_of (itself or
 * NULL: none) when that drain's rings fill up; buddy_of must outlive the thread.
 */
struct mt_error *mt_drain_start(struct mt_drain *drain, struct mt_drain *buddy_of);

/* Requests a pass that begins after this call and pushes every record. */
void mt_drain_flush(struct mt_drain *drain);

/*
 * Waits for the flush that was requested last, until `until` (CLOCK_MONOTONIC, ns), so that one
 * deadline may serve many drains. False if the flush is not done by then.
 */
bool mt_drain_wait(struct mt_drain *drain, uint64_t until);

/* True if the flush that was requested last is done. */
bool mt_drain_flushed(const struct mt_drain *drain);

/* Pins the thread to its CPU again, after the CPU was offline and the kernel moved the thread. */
void mt_drain_pin_again(struct mt_drain *drain);

/*
 * Flushes and ends the thread. Stop all drains before destroying any, because drains help each
 * other.
 */
void mt_drain_stop(struct mt_drain *drain);

/* Allocates the memory that the drain's streams need. Call on any thread except the drain's. */
void mt_drain_grow(struct mt_drain *drain);

/* Stops the thread if it runs. NULL-safe. */
void mt_drain_destroy(struct mt_drain *drain);

/* Adds the counts of the drain's streams so far. */
void mt_drain_add_counts(const struct mt_drain *drain, struct mt_stream_counts *sum);

/* Number of samples of one event (index in the plan) in all drains so far. */
uint64_t mt_drains_event_samples(struct mt_drain *const *drains, size_t count, uint32_t event);

/* Adds the counts of one class; false if the drain has no ring of that class. */
bool mt_drain_class_counts(const struct mt_drain *drain, enum mt_event_class class,
			   struct mt_stream_counts *sum);

/* Number of times that the thread woke up. */
uint64_t mt_drain_wakes(const struct mt_drain *drain);

/* CPU time that the thread used, ns; call after mt_drain_stop(). */
uint64_t mt_drain_cpu_ns(const struct mt_drain *drain);

/* The priority that the thread got; call after mt_drain_start(). */
enum mt_priority mt_drain_priority(const struct mt_drain *drain);

/* The priority in words: "SCHED_FIFO 1". */
const char *mt_drain_priority_name(enum mt_priority priority);

#endif
