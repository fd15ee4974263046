/*
 * An option as a row of a table, for the parser and --help. The rows and their actions are in
 * option_table.c.
 */
#ifndef MT_REPORT_CLI_OPTION_TABLE_H
#define MT_REPORT_CLI_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_report_options;
struct mt_unwind_method;

#define MT_REPORT_DEFAULT_FILE "mtrec.mtr"

/* How a value is stored: in the field at the row's offset, except for MT_OPTION_OWN. */
enum mt_option_kind {
	MT_OPTION_OWN,	   /* passed to the row's function */
	MT_OPTION_FLAG,	   /* bool: true */
	MT_OPTION_TEXT,	   /* const char *: the value */
	MT_OPTION_SECONDS, /* double */
	MT_OPTION_NUMBERS, /* struct mt_numbers: added to the list */
	MT_OPTION_MATCH,   /* struct mt_match *: added to the list */
	MT_OPTION_HELD,	   /* of perf: accepted without effect, because every report does this */
	MT_OPTION_INSTEAD, /* of perf: refused; the help names the alternative */
};

/* `name` is the option's name for messages; value is NULL if none is given. */
typedef struct mt_error *mt_set_option(struct mt_report_options *options, const char *name,
				       const char *value);

struct mt_option {
	char letter; /* 0: none */
	const char *name;
	const char *also; /* second long name, hidden from --help; perf's name if that differs */
	/* As --help shows it; NULL: none; "[X]": optional, or the next word; "[=X]": optional. */
	const char *argument;
	enum mt_option_kind kind;
	size_t offset; /* offset in struct mt_report_options */
	mt_set_option *set;
	const char *brief; /* one line for --help; NULL: only --help all lists the option */
	const char *help;  /* for --help all */
};

struct mt_option_group {
	const char *heading;
	const struct mt_option *options; /* ends in a row without a name */
};

enum {
	MT_OPTION_GROUPS = 9,
};

/* In the order of --help: most used first. */
extern const struct mt_option_group mt_option_groups[MT_OPTION_GROUPS];

/* The group of picture options, in picture_options.c. */
extern const struct mt_option mt_picture_option_rows[];

/* The group of perf's options, in perf_options.c. */
extern const struct mt_option mt_perf_option_rows[];

/*
 * Checks the picture options against the other options, and makes --flamechart a timeline of many
 * intervals.
 */
struct mt_error *mt_picture_options_check(struct mt_report_options *options);

/*
 * Methods of unwinding: mtreport's, and those of the oracles that are built in. Each table ends in
 * a row without a name.
 */
#define MT_METHOD_TABLES 2
extern const struct mt_unwind_method *const mt_method_tables[MT_METHOD_TABLES];

/* Stores the value as the row's kind says, or calls its function. */
struct mt_error *mt_option_take(const struct mt_option *option, struct mt_report_options *options,
				const char *name, const char *value);

/*
 * Whether follow-up commands need the option to ask about the same data: selectors, names,
 * unwinding.
 */
bool mt_option_is_repeated(const struct mt_option *option);

/* Adds an input file. */
mt_set_option mt_option_add_file;

#endif
