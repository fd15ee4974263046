/*
 * mtrec's command line as a constant: parsed once, then handed out in parts. Knows nothing of this
 * host.
 */
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
	MT_ACTION_LIST,
	MT_ACTION_CHECK,
	MT_ACTION_HELP,
	MT_ACTION_VERSION,
};

/* One --filter: an expression for the last event of the -e before it. */
struct mt_filter_option {
	const char *event; /* the word, which ends at a comma or the string's end */
	const char *expression;
};

struct mt_record_options {
	enum mt_record_action action;
	const char *help_topic;	       /* of --help: "all", or NULL */
	MT_ARRAY(const char *) events; /* the arguments of -e, in order, each maybe a comma list;
					  without -e "vm,rss" */
	bool all_cpus;
	struct mt_number_list cpus, pids, tids; /* empty: not given */
	const char *output;			/* "-" is standard output */
	uint64_t period;			/* -c, 0: not given */
	uint64_t frequency;			/* -F, 0: not given */
	uint64_t branch_type;			/* -b, -j: PERF_SAMPLE_BRANCH_*; 0: not given */
	enum mt_call_graph call_graph;
	uint32_t dump_size; /* bytes of user stack; 0 unless MT_GRAPH_DWARF */
	size_t ring_size;   /* bytes a CPU for storm events; 0: not given */
	double budget;	    /* percent of one CPU; 0: not given */
	uint64_t max_rate;  /* samples a second and event; 0: not given */
	int level;	    /* zstd's; 0 stores */
	MT_ARRAY(struct mt_filter_option) filters;
	const char *comm;    /* --comm, a POSIX extended expression, or NULL */
	const char *user;    /* -u, a name or a number, or NULL */
	const char *cgroup;  /* -G, or NULL */
	bool no_inherit;     /* no children */
	bool no_heal;	     /* absent stack pages stay absent */
	bool no_seeds;	     /* no larger dumps beside small ones */
	uint64_t duration;   /* ns; 0: not given */
	uint64_t gauges;     /* ns between readings of /proc; 0: only at start and end */
	uint64_t delay;	     /* ns until the events start */
	bool start_disabled; /* -D -1: until --control says so */
	const char *control; /* fifo:CTL[,ACK] or fd:N[,M], or NULL */
	uint64_t max_size;   /* bytes of file; 0: not given */
	struct mt_embed_options embed;
	bool strip;	 /* frames in the place of raw stacks */
	uint64_t memory; /* bytes for the recorder's own use beside the rings; 0: not given */
	bool stats;
	bool quiet;
	int verbose;
	const char *tracepoint_ids; /* FILE, or NULL */
	const char *list_pattern;   /* NULL: everything */
	char *const *command;	    /* NULL-terminated, or NULL */
};

/* Parses argv into *out; on failure *out is untouched. Borrows argv's strings. */
struct mt_error *mt_record_options_parse(int argc, char **argv, struct mt_record_options *out);
void mt_record_options_deinit(struct mt_record_options *options);

/* Prints --help; with the topic "all" every option. */
void mt_record_options_help(const char *topic, FILE *to);

/* Events follow CPUs, whatever runs there. */
bool mt_options_target_cpus(const struct mt_record_options *options);

/* Processes or threads that run already are given. */
bool mt_options_target_tasks(const struct mt_record_options *options);

#endif
