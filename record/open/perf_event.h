/* perf_event_open, error messages for its failures, and an attr as text. */
#ifndef MT_RECORD_OPEN_PERF_EVENT_H
#define MT_RECORD_OPEN_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct mt_error;

/*
 * Features of this kernel. features.c has a row for each: the first version that has it, and what a
 * recording lacks without it.
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
	/* Features without a row in features.c: */
	bool inherited_reads; /* PERF_SAMPLE_READ of a group in an inherited event */
	uint64_t max_rate;    /* maximum samples per second, for -F max; 0: unknown */
};

/* perf_event_open(2); -1 with errno. */
int mt_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
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

#endif
