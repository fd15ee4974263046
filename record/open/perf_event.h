/*
 * perf_event_open, with its refusals in plain words, and an attr as text.
 */
#ifndef MT_RECORD_OPEN_PERF_EVENT_H
#define MT_RECORD_OPEN_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct mt_error;

/*
 * What this kernel lets us ask for; features.c has a row for each, saying since when and what it
 * costs to miss.
 */
struct mt_perf_features {
	bool kernel_frames; /* exclude_kernel = 0 is allowed to us */
	bool format_lost;   /* PERF_FORMAT_LOST */
	bool clockid;	    /* attr.clockid = CLOCK_MONOTONIC */
	bool comm_exec;
	bool cloexec; /* PERF_FLAG_FD_CLOEXEC */
	bool mmap2;
	bool identifier; /* PERF_SAMPLE_IDENTIFIER */
	bool dummy;	 /* PERF_COUNT_SW_DUMMY */
	bool ioc_id;	 /* PERF_EVENT_IOC_ID */
	bool user_stack; /* PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER */
	/* beside the rows: */
	bool branch_index;    /* PERF_SAMPLE_BRANCH_HW_INDEX */
	bool branch_types;    /* PERF_SAMPLE_BRANCH_TYPE_SAVE */
	bool inherited_reads; /* PERF_SAMPLE_READ of a group in an inherited event */
	uint64_t max_rate;    /* samples a second that the kernel takes, for -F max; 0: not known */
};

/* perf_event_open(2); -1 with errno. */
int mt_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
		 const struct mt_perf_features *features);

/* Whose event, and with which others. */
struct mt_perf_place {
	pid_t pid;  /* -1: whoever runs */
	int cgroup; /* the directory's descriptor; -1: pid says */
	int cpu;
	int group; /* the descriptor of its leader; -1: on its own */
};
int mt_perf_open_at(const struct perf_event_attr *attr, const struct mt_perf_place *place,
		    const struct mt_perf_features *features);

/*
 * What, why and what to do when opening `name` for this target failed. system_wide: -a or -C.
 */
struct mt_error *mt_perf_open_error(int errnum, const char *name, bool system_wide,
				    const struct perf_event_attr *attr);

/* The attr as text, a line a field that is not zero: for --verbose. */
void mt_perf_print_attr(const struct perf_event_attr *attr, FILE *to);

#endif
