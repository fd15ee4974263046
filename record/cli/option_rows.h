/*
 * Table of mtrec's options in groups. getopt's list, --help and the suggestions for mistyped
 * options are made from it. options.c parses the options.
 */
#ifndef MT_RECORD_CLI_OPTION_ROWS_H
#define MT_RECORD_CLI_OPTION_ROWS_H

#define MT_DEFAULT_OUTPUT "mtrec.mtr"
#define MT_DEFAULT_EVENTS "vm,rss"

/* Keys of options without a letter. The key of other options is their letter. */
enum mt_long_only {
	MT_OPT_CALL_GRAPH = 256,
	MT_OPT_BUDGET,
	MT_OPT_NO_PREFAULT,
	MT_OPT_NO_SEEDS,
	MT_OPT_MAX_RATE,
	MT_OPT_MALLOC_SAMPLE,
	MT_OPT_MALLOC_SIZE,
	MT_OPT_ALLOC_FUNCTION,
	MT_OPT_FREE_FUNCTION,
	MT_OPT_FILTER,
	MT_OPT_COMM,
	MT_OPT_CHILDREN,
	MT_OPT_DURATION,
	MT_OPT_GAUGES,
	MT_OPT_CONTROL,
	MT_OPT_MAX_SIZE,
	MT_OPT_MEMORY,
	MT_OPT_STATS,
	MT_OPT_EMBED,
	MT_OPT_EMBED_LIMIT,
	MT_OPT_STRIP,
	MT_OPT_LIST,
	MT_OPT_CHECK,
	MT_OPT_CLEAN,
	MT_OPT_TRACEPOINT_IDS,
	MT_OPT_VERSION,
	MT_OPT_STAT,
	MT_OPT_ALL_USER,
	MT_OPT_ALL_KERNEL,
	MT_OPT_OF_PERF, /* first of perf's options, which have consecutive keys */
};

/* What mtrec does with an option. */
enum mt_option_use {
	MT_OPTION_OWN,	   /* parsed by options.c */
	MT_OPTION_HELD,	   /* perf's: accepted, because every recording has it */
	MT_OPTION_INSTEAD, /* perf's: refused; its help names the replacement */
};

/* An option, or the heading of the options after it. */
struct mt_option_row {
	const char *heading;  /* NULL: an option */
	int key;	      /* letter, or one of enum mt_long_only; 0: a heading */
	const char *name;     /* without dashes; NULL: no long name */
	const char *argument; /* NULL: none; "[X]": optional, or the next word */
	const char *brief;    /* one line for --help; NULL: only in --help all */
	const char *help;     /* for --help all */
	enum mt_option_use use;
};

enum {
	MT_OPTION_ROWS = 68,
};

extern const struct mt_option_row mt_option_rows[]; /* MT_OPTION_ROWS */

#endif
