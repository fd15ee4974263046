/* What the kernel says of the memory of cgroups, version 1 and 2, as GAUGE records of process 0. */
#ifndef MT_RECORD_STATE_CGROUP_GAUGES_H
#define MT_RECORD_STATE_CGROUP_GAUGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_clock;
struct mt_state;

#define MT_CGROUP_NONE ((size_t)-1)
#define MT_CGROUP_VALUES 4

struct mt_cgroup {
	char *path;	 /* as /proc/PID/cgroup has it */
	char *directory; /* where its files are */
	bool due;	 /* to be read by the next mt_cgroup_gauges_put() */
	bool written[MT_CGROUP_VALUES];
	uint64_t values[MT_CGROUP_VALUES]; /* as last written */
};

/* All-zero: nothing is known yet. */
struct mt_cgroup_gauges {
	struct mt_cgroup *items;
	size_t count, capacity;
	bool is_found; /* the mount was looked for */
	bool unified;  /* version 2 */
	char *mount;   /* of the hierarchy that accounts for memory; NULL: there is none */
};

void mt_cgroup_gauges_deinit(struct mt_cgroup_gauges *gauges);

/*
 * The index of the cgroup that accounts for a process' memory. MT_CGROUP_NONE: the process is gone,
 * is in the root, or there are too many cgroups.
 */
size_t mt_cgroup_gauges_find(struct mt_cgroup_gauges *gauges, pid_t pid);

/*
 * Reads the cgroups that are due and writes what changed since it was last written; with `all`
 * reads all, and writes the unchanged values too.
 */
void mt_cgroup_gauges_put(struct mt_cgroup_gauges *gauges, struct mt_state *state,
			  const struct mt_clock *clock, bool all);

#endif
