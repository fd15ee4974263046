/*
 * What an option is to the parser and to --help: a row of a table. The rows, and what each does
 * with its value, are option_rows.c's.
 */
#ifndef MT_REPORT_OPTION_ROWS_H
#define MT_REPORT_OPTION_ROWS_H

#include <stddef.h>

struct mt_error;
struct mt_report_options;
struct mt_unwind_method;

#define MT_REPORT_DEFAULT_FILE "mtrec.mtr"

/*
 * What a row does with its value, NULL for a flag. `name` is the option as it is to be called in
 * messages.
 */
typedef struct mt_error *mt_set_option(struct mt_report_options *options, const char *name,
				       const char *value);

struct mt_option {
	char letter; /* 0: none */
	const char *name;
	const char *also;     /* a second long name, not shown; perf's where it differs */
	const char *argument; /* as --help shows it; NULL: takes none; "[X]": may follow a '=' */
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

/* Adds a file to be read; a mt_set_option. */
mt_set_option mt_option_add_file;

#endif
