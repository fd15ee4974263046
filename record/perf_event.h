/*
 * perf_event_open and what this kernel answers to it: the attribute features it has, found by
 * asking, never by version.
 */
#ifndef MT_RECORD_PERF_EVENT_H
#define MT_RECORD_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct mt_error;

/* What an attr may ask for on this kernel. */
struct mt_perf_features {
	bool identifier;    /* PERF_SAMPLE_IDENTIFIER, 3.12 */
	bool mmap2;	    /* 3.12 (3.16 for prot and flags) */
	bool comm_exec;	    /* 3.16 */
	bool clockid;	    /* CLOCK_MONOTONIC, 4.1 */
	bool dummy;	    /* PERF_COUNT_SW_DUMMY, 3.12 */
	bool cloexec;	    /* PERF_FLAG_FD_CLOEXEC, 3.14 */
	bool format_lost;   /* PERF_FORMAT_LOST, 6.0 */
	bool kernel_frames; /* exclude_kernel = 0 is allowed to us */
};

/* Asks the kernel, feature by feature. Fails where perf_event_open itself is refused. */
struct mt_error *mt_perf_probe(struct mt_perf_features *out);

/* perf_event_open(2); -1 with errno. */
int mt_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
		 const struct mt_perf_features *features);

/*
 * What, why and what to do when opening `name` for this target failed. system_wide: -a or -C.
 */
struct mt_error *mt_perf_open_error(int errnum, const char *name, bool system_wide,
				    const struct perf_event_attr *attr);

/* The attr as text, a line a field that is not zero: for --verbose. */
void mt_perf_print_attr(const struct perf_event_attr *attr, FILE *to);

#endif
