/*
 * The opened events: every planned event on every CPU and target task, all of a CPU's events of one
 * class writing into one ring.
 */
#ifndef MT_RECORD_OPENED_H
#define MT_RECORD_OPENED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/events.h"
#include "record/numbers.h"
#include "record/ring.h"

struct mt_error;
struct mt_perf_features;
struct mt_plan;

struct mt_opened_cpu {
	int cpu;
	struct mt_ring rings[MT_CLASSES]; /* page NULL: no event of that class */
};

struct mt_opened_event {
	int fd;
	uint32_t event; /* index in the plan */
	int cpu;
};

struct mt_opened {
	MT_ARRAY(struct mt_opened_cpu) cpus;
	MT_ARRAY(struct mt_opened_event) events;
	struct mt_map64 ids;   /* the kernel's event id -> index in the plan */
	struct mt_map64 tasks; /* the threads opened so far; empty: whole CPUs */
	size_t ring_size;      /* of storm rings, as granted */
	bool ring_shrunk;      /* less than asked for: the mlock limit */
	int *levels;	       /* by index in the plan: which twin of a full event is on */
	bool paused;	       /* only side-band events are on */
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
struct mt_error *mt_opened_init(const struct mt_plan *plan, const struct mt_perf_features *features,
				const struct mt_number_list *cpus, size_t ring_size,
				struct mt_opened *out);

/* Every event on every CPU, whatever runs there. */
struct mt_error *mt_opened_add_cpus(struct mt_opened *opened);

/*
 * Every event on one thread and what it will start; on_exec: enabled by its execve. A thread that
 * is gone is no error.
 */
struct mt_error *mt_opened_add_task(struct mt_opened *opened, pid_t tid, bool on_exec);

/*
 * All threads of a process, read again until no new one appears. MT_ERR_NOT_FOUND where there is no
 * such process.
 */
struct mt_error *mt_opened_add_process(struct mt_opened *opened, pid_t pid);

/* Switches an event that has twins to the twin of that level; a thinned one has no marks. */
void mt_opened_set_level(struct mt_opened *opened, uint32_t event, int level);

/* Lets the events of a class begin, one after the other. */
void mt_opened_enable(struct mt_opened *opened, enum mt_event_class class);

/*
 * Stops the samples, or lets them go on: names and maps are followed meanwhile. Where it is set
 * before events are opened or enabled, these do not start.
 */
void mt_opened_pause(struct mt_opened *opened, bool paused);

/* The reverse: what the rings hold stays. */
void mt_opened_disable(struct mt_opened *opened);

/* How often an event happened while it was enabled, sampled or not. */
uint64_t mt_opened_count(const struct mt_opened *opened, uint32_t event);

/*
 * Losses the kernel counted for an event, beyond what records told (PERF_FORMAT_LOST); 0 where it
 * does not count.
 */
uint64_t mt_opened_lost(const struct mt_opened *opened, uint32_t event);

void mt_opened_deinit(struct mt_opened *opened);

#endif
