/*
 * The outputs: each shows any table that has the columns it needs. A new output needs one file, a
 * line here and a line in report/cli/registry.c. An output sees neither samples nor ELF files, and
 * writes only to its FILE.
 */
#ifndef MT_REPORT_OUTPUTS_OUTPUTS_H
#define MT_REPORT_OUTPUTS_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/tables/code_text.h"
#include "report/tables/limited_table.h"

struct mt_error;
struct mt_facts;
struct mt_flame_options;
struct mt_named_table;
struct mt_source_paths;
struct mt_table;

enum mt_output_needs {
	MT_NEEDS_STACK = 1,	    /* needs a stack column */
	MT_NEEDS_LISTING = 2,	    /* needs single events in time order, with addresses */
	MT_NEEDS_IMAGES = 4,	    /* needs facts->images */
	MT_REPORTS_FACTS = 8,	    /* shows losses and damage; is written even without rows */
	MT_TAKES_KEYS = 16,	    /* accepts sums by any keys */
	MT_TAKES_LISTING = 32,	    /* accepts listings as well as sums */
	MT_LIKES_STACK = 64,	    /* gets a stack column by default if the analysis has one */
	MT_SHOWS_MEMORY = 256,	    /* with --samples, also shows what is known about memory */
	MT_FOR_READERS = 128,	    /* text: starts with the limits of the figures */
	MT_SHOWS_RECORDING = 512,   /* with --samples, shows all other analyses that have figures */
	MT_IS_JSON = 2048,	    /* newlines and indentation have no meaning */
	MT_MEMORY_ALONGSIDE = 8192, /* as MT_SHOWS_MEMORY, and its own table may have any keys */
	MT_TAKES_SUBJECT = 4096,    /* its value is view->subject, not a file to write */
	MT_LIMITS_ROWS = 1024,	    /* merges rows of one path, and limits the merged rows itself */
};

/* Figures that an output cannot show, in the unit of the rows' value. */
struct mt_remainder {
	double below_zero;    /* sum of the rows below 0, and of those rounded to 0 */
	size_t narrow;	      /* frames too narrow to draw */
	double narrow_sum;    /* their sum, a part of their callers' sum */
	double narrow_pixels; /* width below which frames were left out */
};

/* An option of the command line that a follow-up command repeats. */
struct mt_given_option {
	const char *name;  /* without dashes */
	char letter;	   /* 0: none */
	const char *value; /* NULL: none */
	bool attached;	   /* the value follows "=" */
};

/* The subject of a row of the summary. All pointers are borrowed. */
struct mt_summary_row {
	long pid;		      /* 0: all processes of that name */
	const char *process;	      /* name in the row */
	const struct mt_table *table; /* the stack's table; NULL: the whole process */
	uint32_t stack;
	uint32_t name; /* function shown for the stack: id in mt_frames_strings() */
};

/* How to show the table. All pointers are borrowed. */
struct mt_view {
	const struct mt_facts *facts; /* complete after the table's last row */
	size_t value;		      /* index of the value column that rows are ordered by */
	bool weighed;		      /* --weight was given: show only that value */
	unsigned int width;	      /* columns of the terminal; 80 without one */
	bool utf8;		      /* print UTF-8; else ASCII */
	bool colour;		      /* print the terminal's escape sequences */
	bool selected;		      /* selectors were given */
	bool all;		      /* --all: the summary includes small figures */
	bool srcline;		      /* show frames with file and line */
	/* --top and --percent-limit, already applied to the table except for MT_LIMITS_ROWS */
	struct mt_row_limit limit;
	const struct mt_named_table *alongside; /* more tables of the recording, for the summary */
	size_t alongside_count;
	bool gauged; /* gauges cover the selection, whether it has samples or not */
	/* With MT_SHOWS_RECORDING: tables of other analyses, and figures over time. */
	const struct mt_named_table *analyses;
	size_t analysis_count;
	const char *shown_first;  /* name of the requested analysis */
	const char *const *words; /* words of the command line, without analysis and output */
	size_t word_count;
	const struct mt_given_option *given; /* selectors, and options on unwinding and names */
	size_t given_count;
	const char *subject; /* with MT_TAKES_SUBJECT */
	const struct mt_source_paths *source_paths;
	enum mt_asm assembly;		      /* --asm */
	struct mt_code_reader code;	      /* of the frames of a table that is not compared */
	const struct mt_flame_options *flame; /* picture options; NULL: defaults */
	struct mt_remainder *remainder;	      /* if not NULL, set to the figures left out */
	/* If not NULL, called for each row of the summary before its first line. */
	void (*on_row)(void *context, const struct mt_summary_row *row);
	void *on_row_context;
};

/* Whether a value column is shown. */
static inline bool mt_view_shows(const struct mt_view *view, size_t value)
{
	return !view->weighed || value == view->value;
}

/* The additional table of that name; NULL if there is none. */
struct mt_table *mt_view_alongside(const struct mt_view *view, const char *name);

struct mt_output {
	const char *name; /* option name, without dashes */
	const char *
		argument; /* "OUT.svg": the option names the file to write; NULL: it has no value */
	const char *help; /* one line of --help: up to 52 characters */
	bool rare;	  /* only --help all lists it */
	unsigned int needs; /* bits of enum mt_output_needs */
	struct mt_error *(*write)(const struct mt_view *view, struct mt_table *table, FILE *to);
};

/*
 * Writes the table; a usage error if it lacks a column the output needs. The caller checks `to` for
 * write errors.
 */
struct mt_error *mt_output_write(const struct mt_output *output, const struct mt_view *view,
				 struct mt_table *table, FILE *to);

extern const struct mt_output mt_output_summary;
extern const struct mt_output mt_output_summary_json;
extern const struct mt_output mt_output_folded;
extern const struct mt_output mt_output_flamegraph;
extern const struct mt_output mt_output_html;
extern const struct mt_output mt_output_pprof;
extern const struct mt_output mt_output_callgrind;
extern const struct mt_output mt_output_sql;
extern const struct mt_output mt_output_annotate;
extern const struct mt_output mt_output_script;
extern const struct mt_output mt_output_info;
extern const struct mt_output mt_output_table;
extern const struct mt_output mt_output_paths;
extern const struct mt_output mt_output_csv;
extern const struct mt_output mt_output_json;

#endif
