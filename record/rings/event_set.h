/*
 * The open events: every planned event on every CPU or target task. All events of one CPU and class
 * write into one ring.
 */
#ifndef MT_RECORD_RINGS_EVENT_SET_H
#define MT_RECORD_RINGS_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/records/events.h"
#include "record/open/ring.h"
#include "record/proc/numbers.h"

struct mt_error;
struct mt_perf_features;
struct mt_plan;

struct mt_event_set_cpu {
	int cpu;
	bool offline;			  /* the CPU went offline: its events are closed */
	struct mt_ring rings[MT_CLASSES]; /* page NULL: no event of that class */
};

struct mt_event_set_event {
	int fd;
	uint32_t event; /* index in the plan */
	int cpu;
	uint64_t id; /* the id that the kernel gave */
};

/* Counts of events that were closed, by index in the plan. */
struct mt_event_set_closed {
	uint64_t count, lost;
};

struct mt_event_set {
	MT_ARRAY(struct mt_event_set_cpu) cpus;
	MT_ARRAY(struct mt_event_set_event) events;
	/*
	 * Kernel event id -> index in the plan. Load the pointer for each use, because the map may
	 * be replaced.
	 */
	_Atomic(struct mt_map64 *) ids;
	struct mt_map64 *next_ids;	     /* ids with events being opened; mostly equal to ids */
	MT_ARRAY(struct mt_map64 *) old_ids; /* replaced maps, which a drain may still read */
	struct mt_event_set_closed *closed;  /* by index in the plan */
	struct mt_map64 tasks;		     /* threads with events; empty: events follow CPUs */
	size_t ring_size;		     /* bytes of a storm ring, as granted */
	bool ring_shrunk;		     /* the mlock limit allowed less than requested */
	_Atomic int *levels; /* level of the enabled variant, by index of the full event */
	bool paused;	     /* only side-band events are enabled */
	const char *refused; /* name of the first block probe that the kernel cannot set; or NULL */
	const char *cgroup_name;
	int cgroup; /* borrowed descriptor of the cgroup that is sampled, or -1 */
	const struct mt_plan *plan;
	const struct mt_perf_features *features;
};

/*
 * Opens the rings of these CPUs except offline ones. ring_size is that of storm rings, reduced if
 * the mlock limit does not allow it; 0: no rings, for events that only count. Without rings, CPU -1
 * means all CPUs of a task. Borrows plan and features. Call mt_event_set_deinit() even after a
 * failure.
 */
struct mt_error *mt_event_set_init(const struct mt_plan *plan,
				   const struct mt_perf_features *features,
				   const struct mt_number_list *cpus, size_t ring_size,
				   struct mt_event_set *out);

/* Opens every event on every CPU, for all tasks. */
struct mt_error *mt_event_set_add_cpus(struct mt_event_set *opened);

/*
 * Opens every event on one thread and its future children; on_exec: the thread's execve enables the
 * events. It is not an error if the thread has ended.
 */
struct mt_error *mt_event_set_add_task(struct mt_event_set *opened, pid_t tid, bool on_exec);

/*
 * Opens every event on all threads of a process; lists the threads again until there is no new one.
 * MT_ERR_NOT_FOUND if there is no such process.
 */
struct mt_error *mt_event_set_add_process(struct mt_event_set *opened, pid_t pid);

/*
 * Opens and enables all events of a CPU again; place is the index of the CPU in `cpus`. When a CPU
 * goes offline, the kernel closes its events, and does not open them again when the CPU comes back.
 */
struct mt_error *mt_event_set_reopen_cpu(struct mt_event_set *opened, size_t place);

/*
 * Enables the variant of that level and disables the others. Disables the marks of a thinned event.
 */
void mt_event_set_set_level(struct mt_event_set *opened, uint32_t event, int level);

/* Enables the events of a class, one after the other. */
void mt_event_set_enable(struct mt_event_set *opened, enum mt_event_class class);

/*
 * Disables or enables all events but the side-band, so that names and maps are still recorded. If
 * paused before events are opened or enabled, they do not start.
 */
void mt_event_set_pause(struct mt_event_set *opened, bool paused);

/* Disables all events. Records stay in the rings. */
void mt_event_set_disable(struct mt_event_set *opened);

/* Disables an event everywhere: it writes nothing more. A probe still stops threads. */
void mt_event_set_disable_event(struct mt_event_set *opened, uint32_t event);

/* Closes an event everywhere; its counts are kept, and its records stay in the rings. */
void mt_event_set_close_event(struct mt_event_set *opened, uint32_t event);

/* The kernel's count of an event while it was enabled, sampled or not. */
uint64_t mt_event_set_count(const struct mt_event_set *opened, uint32_t event);

/*
 * Number of lost records of an event by the kernel's count (PERF_FORMAT_LOST), including those in
 * LOST records; 0 if the kernel does not count.
 */
uint64_t mt_event_set_lost(const struct mt_event_set *opened, uint32_t event);

void mt_event_set_deinit(struct mt_event_set *opened);

#endif
