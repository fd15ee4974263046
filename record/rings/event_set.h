/*
 * The opened events: every planned event on every CPU and target task, all of a CPU's events of one
 * class writing into one ring.
 */
#ifndef MT_RECORD_RINGS_EVENT_SET_H
#define MT_RECORD_RINGS_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/events.h"
#include "record/open/ring.h"
#include "record/proc/numbers.h"

struct mt_error;
struct mt_perf_features;
struct mt_plan;

struct mt_event_set_cpu {
	int cpu;
	bool offline;			  /* as far as was told: its events are gone */
	struct mt_ring rings[MT_CLASSES]; /* page NULL: no event of that class */
};

struct mt_event_set_event {
	int fd;
	uint32_t event; /* index in the plan */
	int cpu;
	uint64_t id; /* the kernel's */
};

/* What events of that index in the plan counted, before they were closed. */
struct mt_event_set_closed {
	uint64_t count, lost;
};

struct mt_event_set {
	MT_ARRAY(struct mt_event_set_cpu) cpus;
	MT_ARRAY(struct mt_event_set_event) events;
	/* the kernel's event id -> index in the plan; those who read it may be given another one */
	_Atomic(struct mt_map64 *) ids;
	struct mt_map64 *next_ids;	     /* those with what is being opened; mostly the same */
	MT_ARRAY(struct mt_map64 *) old_ids; /* which may still be read */
	struct mt_event_set_closed *closed;  /* by index in the plan */
	struct mt_map64 tasks;		     /* the threads opened so far; empty: whole CPUs */
	size_t ring_size;		     /* of storm rings, as granted */
	bool ring_shrunk;		     /* less than asked for: the mlock limit */
	_Atomic int *levels; /* by index in the plan: which twin of a full event is on */
	bool paused;	     /* only side-band events are on */
	const char *cgroup_name;
	int cgroup; /* descriptor of the cgroup that is sampled, or -1; borrowed */
	const struct mt_plan *plan;
	const struct mt_perf_features *features;
};

/*
 * Opens the rings of these CPUs (offline ones are left out). ring_size is for storm events; where
 * the mlock budget does not allow it, less is taken. Borrows plan and features. *out must be closed
 * even after a failure.
 */
struct mt_error *mt_event_set_init(const struct mt_plan *plan,
				   const struct mt_perf_features *features,
				   const struct mt_number_list *cpus, size_t ring_size,
				   struct mt_event_set *out);

/* Every event on every CPU, whatever runs there. */
struct mt_error *mt_event_set_add_cpus(struct mt_event_set *opened);

/*
 * Every event on one thread and what it will start; on_exec: enabled by its execve. A thread that
 * is gone is no error.
 */
struct mt_error *mt_event_set_add_task(struct mt_event_set *opened, pid_t tid, bool on_exec);

/*
 * All threads of a process, read again until no new one appears. MT_ERR_NOT_FOUND where there is no
 * such process.
 */
struct mt_error *mt_event_set_add_process(struct mt_event_set *opened, pid_t pid);

/*
 * Opens and enables all events of a CPU again, by its place in `cpus`: a CPU that goes offline
 * takes those of whole CPUs with it, and they do not come back.
 */
struct mt_error *mt_event_set_reopen_cpu(struct mt_event_set *opened, size_t place);

/* Switches an event that has twins to the twin of that level; a thinned one has no marks. */
void mt_event_set_set_level(struct mt_event_set *opened, uint32_t event, int level);

/* Lets the events of a class begin, one after the other. */
void mt_event_set_enable(struct mt_event_set *opened, enum mt_event_class class);

/*
 * Stops the samples, or lets them go on: names and maps are followed meanwhile. Where it is set
 * before events are opened or enabled, these do not start.
 */
void mt_event_set_pause(struct mt_event_set *opened, bool paused);

/* The reverse: what the rings hold stays. */
void mt_event_set_disable(struct mt_event_set *opened);

/* How often an event happened while it was enabled, sampled or not. */
uint64_t mt_event_set_count(const struct mt_event_set *opened, uint32_t event);

/*
 * Losses the kernel counted for an event, beyond what records told (PERF_FORMAT_LOST); 0 where it
 * does not count.
 */
uint64_t mt_event_set_lost(const struct mt_event_set *opened, uint32_t event);

void mt_event_set_deinit(struct mt_event_set *opened);

#endif
