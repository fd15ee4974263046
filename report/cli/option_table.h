/*
 * What an option is to the parser and to --help: a row of a table. The rows, and what each does
 * with its value, are option_rows.c's.
 */
#ifndef MT_REPORT_CLI_OPTION_TABLE_H
#define MT_REPORT_CLI_OPTION_TABLE_H

#include <stddef.h>

struct mt_error;
struct mt_report_options;
struct mt_unwind_method;

#define MT_REPORT_DEFAULT_FILE "mtrec.mtr"

/* What becomes of the value; but for MT_OPTION_OWN, the field at the row's offset. */
enum mt_option_kind {
	MT_OPTION_OWN,	   /* what its function says */
	MT_OPTION_FLAG,	   /* bool: true */
	MT_OPTION_TEXT,	   /* const char *: the value */
	MT_OPTION_SECONDS, /* double */
	MT_OPTION_NUMBERS, /* struct mt_numbers: these, too */
	MT_OPTION_MATCH,   /* struct mt_match *: these, too */
};

/* `name` is the option as it is to be called in messages; value NULL where none is given. */
typedef struct mt_error *mt_set_option(struct mt_report_options *options, const char *name,
				       const char *value);

struct mt_option {
	char letter; /* 0: none */
	const char *name;
	const char *also;     /* a second long name, not shown; perf's where it differs */
	const char *argument; /* as --help shows it; NULL: takes none; "[X]": may follow a '=' */
	enum mt_option_kind kind;
	size_t offset; /* in struct mt_report_options */
	mt_set_option *set;
	const char *help;
};

enum mt_option_table {
	MT_OPTIONS_SELECTORS,
	MT_OPTIONS_OTHERS,
	MT_OPTION_TABLES
};

/* Each ends in a row without a name. */
extern const struct mt_option *const mt_option_tables[MT_OPTION_TABLES];

/* Ways to unwind: ours, and the oracles that were built in; each ends in a row without a name. */
#define MT_METHOD_TABLES 2
extern const struct mt_unwind_method *const mt_method_tables[MT_METHOD_TABLES];

/* Does with the value what the row says. */
struct mt_error *mt_option_take(const struct mt_option *option, struct mt_report_options *options,
				const char *name, const char *value);

/* Adds a file to be read; a mt_set_option. */
mt_set_option mt_option_add_file;

#endif
