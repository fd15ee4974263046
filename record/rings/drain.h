/*
 * The threads that empty the rings: one a CPU, pinned there, real-time where that is allowed. They
 * copy records into blocks and hand them on; they never compress, write a file or wait for the
 * target.
 */
#ifndef MT_RECORD_RINGS_DRAIN_H
#define MT_RECORD_RINGS_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/events.h"
#include "record/open/ring.h"
#include "record/rings/self_limits.h"
#include "record/rings/stream.h"

struct mt_drain;
struct mt_error;

/*
 * For the rings of one CPU (indexed by class; a class without a ring has page NULL), which are
 * borrowed, as is config. Stream numbers are 2 * slot + class.
 */
struct mt_error *mt_drain_create(int cpu, uint32_t slot, struct mt_ring rings[MT_CLASSES],
				 const struct mt_stream_config *config, struct mt_drain **out);

/*
 * Starts the thread, and returns when it is ready. It helps buddy_of (itself or NULL: nobody), a
 * drain that must outlive the thread, when that one's rings fill up.
 */
struct mt_error *mt_drain_start(struct mt_drain *drain, struct mt_drain *buddy_of);

/* Asks for a pass that begins after this call and hands every record on; wait returns after it. */
void mt_drain_flush(struct mt_drain *drain);

/*
 * Waits for the flush asked for last, until that time of CLOCK_MONOTONIC (ns), which may be one for
 * many drains; false where it is not done then.
 */
bool mt_drain_wait(struct mt_drain *drain, uint64_t until);

/* The same without waiting. */
bool mt_drain_flushed(const struct mt_drain *drain);

/* Its CPU was offline: the kernel lets the thread run elsewhere since. */
void mt_drain_pin_again(struct mt_drain *drain);

/* A last flush, then ends the thread. All are stopped before any is destroyed: they help others. */
void mt_drain_stop(struct mt_drain *drain);

/* Gets the memory that its streams want, on another thread than its own. */
void mt_drain_grow(struct mt_drain *drain);

/* Stops it if it runs. NULL-safe. */
void mt_drain_destroy(struct mt_drain *drain);

/* Adds what has passed through its streams so far. */
void mt_drain_add_counts(const struct mt_drain *drain, struct mt_stream_counts *sum);

/* Samples of one event (index in the plan) so far. */
uint64_t mt_drain_event_samples(const struct mt_drain *drain, uint32_t event);

/* The same of one class alone, with how often its thread woke; false where it has no such ring. */
bool mt_drain_class_counts(const struct mt_drain *drain, enum mt_event_class class,
			   struct mt_stream_counts *sum);
uint64_t mt_drain_wakes(const struct mt_drain *drain);

/* CPU time that the thread used, ns, once it was stopped. */
uint64_t mt_drain_cpu_ns(const struct mt_drain *drain);

/* What the thread got, once it has started. */
enum mt_priority mt_drain_priority(const struct mt_drain *drain);

/* In words: "SCHED_FIFO 1". */
const char *mt_drain_priority_name(enum mt_priority priority);

#endif
