/*
 * The outputs: how a table is shown. Each takes any table that has the columns it needs; one file
 * and one row in outputs.c adds one. An output sees no sample and no ELF file, and writes to the
 * FILE it is given.
 */
#ifndef MT_REPORT_OUTPUTS_OUTPUTS_H
#define MT_REPORT_OUTPUTS_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct mt_error;
struct mt_facts;
struct mt_table;

enum mt_output_needs {
	MT_NEEDS_STACK = 1,    /* a stack column */
	MT_NEEDS_LISTING = 2,  /* single events in time order, with addresses */
	MT_NEEDS_IMAGES = 4,   /* facts that list the images */
	MT_TELLS_FACTS = 8,    /* shows losses and damage itself, so that nobody else needs to; also
				  shown without any row */
	MT_TAKES_KEYS = 16,    /* shows sums by any keys */
	MT_TAKES_LISTING = 32, /* shows single events as well as sums */
	MT_LIKES_STACK = 64,   /* shows a stack column where the analysis has one by default */
};

/* What an output is told beside the table. Borrowed. */
struct mt_view {
	const struct mt_facts *facts; /* complete once the table is read to its end */
	size_t value;		      /* the value column that weighs rows */
	bool weighed;		      /* it was asked for: the others need not be shown */
	unsigned int width;	      /* columns of the terminal, 80 where it is none */
	bool utf8;		      /* the terminal shows UTF-8; else plain ASCII */
	bool selected;		      /* selectors were given */
	bool srcline;		      /* frames are shown with file and line */
	size_t top;		      /* --top: the table has no more rows; 0: it has all */
	struct mt_table *growth;      /* how much each stack changed what is mapped, beside a table
					 that counts; NULL: nothing is known of it */
	double growth_mapped, growth_returned; /* bytes, of it: by calls; the second below 0 */
	struct mt_table *verdicts;	       /* the same for what --verdict makes of it */
	double *left_out; /* gets what the rows that the output cannot show add up to;
			 or NULL */
};

struct mt_output {
	const char *name; /* as on the command line, without dashes */
	const char *help;
	unsigned int needs; /* enum mt_output_needs */
	struct mt_error *(*write)(const struct mt_view *view, struct mt_table *table, FILE *to);
};

/* Ends in a NULL. The first is the default. */
extern const struct mt_output *const mt_outputs[];

/* NULL for a name that is none. */
const struct mt_output *mt_output_find(const char *name);

/*
 * Writes the table, or refuses in one line a table without the columns it needs. Errors of `to` are
 * the caller's to look for.
 */
struct mt_error *mt_output_write(const struct mt_output *output, const struct mt_view *view,
				 struct mt_table *table, FILE *to);

extern const struct mt_output mt_output_summary;
extern const struct mt_output mt_output_folded;
extern const struct mt_output mt_output_script;
extern const struct mt_output mt_output_info;
extern const struct mt_output mt_output_table;
extern const struct mt_output mt_output_paths;
extern const struct mt_output mt_output_branch_lines;
extern const struct mt_output mt_output_csv;
extern const struct mt_output mt_output_json;

#endif
