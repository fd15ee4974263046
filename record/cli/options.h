/* mtrec's command line, parsed once and then constant. Independent of this host. */
#ifndef MT_RECORD_CLI_OPTIONS_H
#define MT_RECORD_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/base/array.h"
#include "record/carry/carry_worker.h"
#include "record/proc/numbers.h"

struct mt_error;

enum mt_call_graph {
	MT_GRAPH_NONE,
	MT_GRAPH_FP,
	MT_GRAPH_DWARF,
	MT_GRAPH_LBR,
};

#define MT_FREQUENCY_MAX UINT64_MAX /* -F max */

enum mt_record_action {
	MT_ACTION_RECORD,
	MT_ACTION_COUNT, /* --stat */
	MT_ACTION_LIST,
	MT_ACTION_CHECK,
	MT_ACTION_CLEAN,
	MT_ACTION_HELP,
	MT_ACTION_VERSION,
};

/* A --filter: an expression for the last event of the preceding -e. */
struct mt_filter_option {
	const char *events; /* argument of that -e */
	const char *expression;
};

struct mt_record_options {
	enum mt_record_action action;
	const char *help_topic;	       /* topic of --help: "all", or NULL */
	MT_ARRAY(const char *) events; /* arguments of -e, in order, each a comma-separated list;
					  default "vm,rss" */
	bool all_cpus;
	bool all_user, all_kernel;		/* only user events, only kernel events */
	struct mt_number_list cpus, pids, tids; /* empty: not given */
	const char *output; /* "-": standard output; NULL with --stat: standard error */
	uint64_t period;    /* -c, 0: not given */
	uint64_t frequency; /* -F, 0: not given */
	enum mt_call_graph call_graph;
	uint32_t dump_size;		    /* bytes of user stack; 0 unless MT_GRAPH_DWARF */
	bool dump_given;		    /* the user gave dump_size */
	size_t ring_size;		    /* bytes per CPU of a storm ring; 0: not given */
	double budget;			    /* percent of one CPU; 0: not given */
	uint64_t max_rate;		    /* samples per second and event; 0: not given */
	uint32_t malloc_sample;		    /* 1 in this many blocks, a power of two; 0: auto */
	uint64_t malloc_least, malloc_most; /* bytes of a block; malloc_most 0: not given */
	MT_ARRAY(const char *) custom_allocs, custom_frees; /* --alloc-function, --free-function */
	int level;					    /* zstd level; 0: store */
	MT_ARRAY(struct mt_filter_option) filters;
	const char *comm;    /* --comm, a POSIX extended expression, or NULL */
	const char *user;    /* -u, a name or a number, or NULL */
	const char *cgroup;  /* -G, or NULL */
	bool no_inherit;     /* do not follow children */
	bool children;	     /* -p: existing children, too */
	bool no_prefault;    /* do not prefault stacks (prefault.h) */
	bool no_seeds;	     /* do not plan seeds (variants.h) */
	uint64_t duration;   /* ns; 0: not given */
	uint64_t gauges;     /* ns between readings of /proc; 0: only at start and end */
	uint64_t delay;	     /* ns until the events are enabled */
	bool start_disabled; /* -D -1: events stay disabled until --control enables them */
	const char *control; /* fifo:CTL[,ACK] or fd:N[,M], or NULL */
	uint64_t max_size;   /* bytes of the recording; 0: not given */
	struct mt_embed_options embed;
	bool strip;	       /* write frames instead of raw stacks */
	uint64_t memory;       /* bytes of the recorder's memory without rings; 0: not given */
	uint64_t interval;     /* --stat: ns; 0: one count at the end */
	const char *separator; /* --stat: separator of fields; NULL: columns */
	bool stats;
	bool quiet;
	int verbose;
	const char *tracepoint_ids; /* FILE, or NULL */
	const char *list_pattern;   /* NULL: everything */
	char *const *command;	    /* NULL-terminated, or NULL */
};

/* Parses argv; leaves *out unchanged on failure. *out borrows the strings of argv. */
struct mt_error *mt_record_options_parse(int argc, char **argv, struct mt_record_options *out);
void mt_record_options_deinit(struct mt_record_options *options);

/* Prints --help. Topic "all" prints every option. */
void mt_record_options_help(const char *topic, FILE *to);

/* Returns true if events follow CPUs, not tasks. */
bool mt_options_target_cpus(const struct mt_record_options *options);

/* Returns true if existing processes or threads are given. */
bool mt_options_target_tasks(const struct mt_record_options *options);

#endif
