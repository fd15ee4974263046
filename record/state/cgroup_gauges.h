/* The memory use of cgroups, version 1 and 2, as GAUGE records of process 0. */
#ifndef MT_RECORD_STATE_CGROUP_GAUGES_H
#define MT_RECORD_STATE_CGROUP_GAUGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_clock;
struct mt_state;

#define MT_CGROUP_NONE ((size_t)-1)
#define MT_CGROUP_VALUES 5

struct mt_cgroup {
	char *path;	 /* as in /proc/PID/cgroup */
	char *directory; /* of its files */
	bool due;	 /* the next mt_cgroup_gauges_put() reads it */
	bool written[MT_CGROUP_VALUES];
	uint64_t values[MT_CGROUP_VALUES]; /* as last written */
};

/* Initialise to zero: nothing is known yet. */
struct mt_cgroup_gauges {
	struct mt_cgroup *items;
	size_t count, capacity;
	bool is_found; /* the mount was searched for */
	bool unified;  /* cgroup version 2 */
	char *mount;   /* of the hierarchy with the memory controller; NULL: none */
};

void mt_cgroup_gauges_deinit(struct mt_cgroup_gauges *gauges);

/*
 * Index of the cgroup that accounts for a process's memory. MT_CGROUP_NONE: the process has ended
 * or is in the root cgroup, or there are too many cgroups.
 */
size_t mt_cgroup_gauges_find(struct mt_cgroup_gauges *gauges, pid_t pid);

/*
 * Adds the cgroups of the host that have a limit, because a process that is moved into one later
 * may end before anybody reads its cgroup. These cgroups are due.
 */
void mt_cgroup_gauges_add_limited(struct mt_cgroup_gauges *gauges);

/*
 * Reads the cgroups that are due and writes the values that changed since they were last written.
 * all: reads every cgroup and writes every value.
 */
void mt_cgroup_gauges_put(struct mt_cgroup_gauges *gauges, struct mt_state *state,
			  const struct mt_clock *clock, bool all);

#endif
