/*
 * perf_event_open, its errors, an attr as text, and the features of this kernel in one table,
 * newest first. Each feature is probed and never derived from the version, because distributions
 * backport features.
 */
#ifndef MT_RECORD_OPEN_PERF_EVENT_H
#define MT_RECORD_OPEN_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct mt_error;
struct perf_event_attr;

/*
 * Features of this kernel. mt_feature_rows() has a row for each: the first version that has it, and
 * what a recording lacks without it.
 */
struct mt_perf_features {
	bool kernel_frames; /* exclude_kernel = 0 is allowed */
	bool format_lost;   /* PERF_FORMAT_LOST */
	bool clockid;	    /* attr.clockid = CLOCK_MONOTONIC */
	bool comm_exec;
	bool cloexec; /* PERF_FLAG_FD_CLOEXEC */
	bool mmap2;
	bool identifier; /* PERF_SAMPLE_IDENTIFIER */
	bool dummy;	 /* PERF_COUNT_SW_DUMMY */
	bool ioc_id;	 /* PERF_EVENT_IOC_ID */
	bool user_stack; /* PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER */
	/* Features without a row: */
	bool inherited_reads; /* PERF_SAMPLE_READ of a group in an inherited event */
	uint64_t max_rate;    /* maximum samples per second, for -F max; 0: unknown */
};

/* Returns the attr of a disabled event with period 1 that excludes the kernel. */
struct perf_event_attr mt_perf_attr(uint32_t type, uint64_t config);

/* Calls perf_event_open(2). Returns a descriptor, or -1 with errno. */
int mt_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
		 const struct mt_perf_features *features);

/* Returns true if the event can be opened, and closes it. */
bool mt_perf_opens(const struct perf_event_attr *attr, pid_t pid, int cpu,
		   const struct mt_perf_features *features);

/* The task, CPU and group of an event. */
struct mt_perf_place {
	pid_t pid;  /* -1: every task */
	int cgroup; /* descriptor of the cgroup's directory; -1: pid selects the task */
	int cpu;    /* -1: every CPU */
	int group;  /* descriptor of the group's leader; -1: no group */
};
int mt_perf_open_at(const struct perf_event_attr *attr, const struct mt_perf_place *place,
		    const struct mt_perf_features *features);

/*
 * Returns the error of an event `name` that did not open: the failure, its reason and a remedy.
 * system_wide: with -a or -C.
 */
struct mt_error *mt_perf_open_error(int errnum, const char *name, bool system_wide,
				    const struct perf_event_attr *attr);

/* Prints the attr's non-zero fields, one per line, for --verbose. */
void mt_perf_print_attr(const struct perf_event_attr *attr, FILE *to);

struct mt_feature {
	const char *name;
	const char *since; /* first Linux version that has the feature, or another requirement */
	const char *cost;  /* what a recording lacks without the feature, or has instead */
	bool harmless;	   /* true: a recording without it lacks nothing */
	size_t offset;	   /* offset of its bool in struct mt_perf_features */
	/* Requests the feature in an attr; NULL: attrs do not request it. */
	void (*ask)(struct perf_event_attr *attr);
};

/* Returns the table. */
const struct mt_feature *mt_feature_rows(size_t *count);

/* Returns true if the kernel has the row's feature. */
bool mt_feature_has(const struct mt_perf_features *features, const struct mt_feature *row);

/*
 * Requests all features at once; if the kernel refuses, drops them row by row. Fails if the kernel
 * refuses perf_event_open itself; the error says what would allow it.
 */
struct mt_error *mt_features_probe(struct mt_perf_features *out);

#endif
