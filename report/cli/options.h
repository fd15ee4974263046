/*
 * Parses mtreport's command line into a struct. Every option is a row of a table, from which --help
 * is made; analyses and outputs come from their own tables.
 */
#ifndef MT_REPORT_CLI_OPTIONS_H
#define MT_REPORT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/cli/request.h"
#include "report/names/naming.h"
#include "report/outputs/annotate/source_file.h"
#include "report/outputs/flame/flame_options.h"
#include "report/session/selection.h"
#include "report/sums/baseline.h"
#include "report/tables/code_text.h"
#include "symbols/carried/skeleton.h"

struct mt_analysis;
struct mt_error;
struct mt_given_option;
struct mt_output;
struct mt_unwind_method;

enum mt_help {
	MT_HELP_NONE,
	MT_HELP_BRIEF, /* the most used options, on two screens */
	MT_HELP_ALL,
};

/* The copy of the recording to write instead of a report. */
enum mt_copy {
	MT_COPY_NONE,
	MT_COPY_STRIP,
	MT_COPY_SEAL,
	MT_COPY_PERFDATA,
};

/* The option, "--strip". */
const char *mt_copy_name(enum mt_copy copy);

struct mt_report_options {
	const struct mt_analysis *analysis; /* never NULL */
	const struct mt_output *output;	    /* never NULL */
	struct mt_selection selection;
	const char **files; /* file_count names, one at least */
	size_t file_count, file_capacity;
	const char *output_path;     /* NULL or "-": standard output */
	const char *output_argument; /* the output's own value: the file to write; or NULL */
	const char *shown_first;     /* the analysis that --html shows first; or NULL */
	const char **words; /* word_count words of the command line, without analysis and output */
	size_t word_count, word_capacity;
	struct mt_given_option *given; /* options that select the data (given_count) */
	size_t given_count, given_capacity;
	const char *subject; /* the subject of --annotate; or NULL */
	struct mt_source_paths source_paths;
	enum mt_asm assembly;	       /* --asm */
	struct mt_flame_options flame; /* picture options of --flamegraph */
	enum mt_copy copy;
	const char *copy_path;	      /* path of the copy */
	const char *embed;	      /* the value of --embed, or NULL */
	struct mt_skeleton_wish wish; /* what --seal carries of each image */
	const struct mt_unwind_method *unwind;
	uint32_t max_stack;
	bool no_join;
	bool scan;
	unsigned int workers;	 /* -j; 0: one per CPU */
	struct mt_wishes wishes; /* options on the table's shape */
	struct mt_baseline_options baseline;
	double begins, base_begins; /* where --time and --base-time begin, as typed */
	double follow;		    /* --follow: seconds between updates; 0: not given */
	unsigned long follow_count; /* updates; 0: until the recording ends */
	struct mt_directories symfs;
	const char *debug_dir; /* or NULL */
	const char *kallsyms;
	bool prefer_local;
	bool debuginfod;		  /* ask debuginfod servers */
	const char *debuginfod_urls;	  /* URLs of the servers; NULL: from the environment */
	struct mt_match *ours, *not_ours; /* or NULL */
	bool no_demangle;
	bool no_inline;
	bool srcline;
	bool sorted; /* --sort was given: keys with stacks are shown by --paths */
	bool quiet;
	bool strict;
	double strict_percent; /* percent of user stacks that may end early */
	enum mt_help help;     /* if not MT_HELP_NONE, no other option is checked */
	bool version;	       /* if set, no other option is checked */
};

/*
 * Parses argv[1] and later; strings stay borrowed from argv. Errors are MT_ERR_USAGE. *out is
 * untouched on failure.
 */
struct mt_error *mt_report_options_parse(int argc, char *const *argv,
					 struct mt_report_options *out);
void mt_report_options_deinit(struct mt_report_options *options);

/* Prints --help, or --help all. */
void mt_report_options_help(enum mt_help which, FILE *to);

#endif
