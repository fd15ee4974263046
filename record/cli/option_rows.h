/*
 * Table of mtrec's options in groups. getopt's list, --help and the suggestions for mistyped
 * options are made from it. options.c parses the command line.
 */
#ifndef MT_RECORD_CLI_OPTION_ROWS_H
#define MT_RECORD_CLI_OPTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/cli/options.h"

#define MT_DEFAULT_OUTPUT "mtrec.mtr"
#define MT_DEFAULT_EVENTS "vm,rss"
#define MT_DEFAULT_DUMP 16384

/* How the value of an option is stored. */
enum mt_option_kind {
	MT_OPTION_SET,	  /* passed to the row's function */
	MT_OPTION_FLAG,	  /* bool: true */
	MT_OPTION_TEXT,	  /* const char *: the value */
	MT_OPTION_ACTION, /* sets options->action to that of the row */
	MT_OPTION_NUMBER, /* uint64_t */
	MT_OPTION_SIZE,	  /* uint64_t: bytes */
	MT_OPTION_TIME,	  /* uint64_t: ns */
	MT_OPTION_LIST,	  /* struct mt_number_list: the numbers are added */
	/* Options of perf that store nothing. */
	MT_OPTION_HELD,	   /* accepted, because every recording has it */
	MT_OPTION_CLOCK,   /* accepted with the name of the only clock */
	MT_OPTION_INSTEAD, /* refused; its help names the replacement */
};

/* An option, or the heading of the options after it. */
struct mt_option_row {
	char letter;	      /* 0: none */
	const char *name;     /* without dashes; NULL: no long name */
	const char *argument; /* NULL: none; "[X]": optional, after "=" or as the next word */
	enum mt_option_kind kind;
	size_t offset; /* of the field in struct mt_record_options */
	uint64_t unit, least, most;
	enum mt_record_action action;
	struct mt_error *(*set)(const char *text, struct mt_record_options *options);
	bool is_of_recordings; /* an option of recordings, which --stat refuses */
	const char *brief;     /* one line for --help; NULL: only in --help all */
	const char *help;      /* for --help all */
	const char *heading;   /* heading of the options below; NULL: the row is an option */
};

enum {
	MT_OPTION_ROWS = 68,
	MT_OPTION_NAME_SIZE = 32,
};
extern const struct mt_option_row mt_option_rows[MT_OPTION_ROWS];

/* Stores the value of an option. */
struct mt_error *mt_option_take(const struct mt_option_row *row, const char *text,
				struct mt_record_options *options);

/* Formats "-c", or "--max-rate" for an option without a letter. */
void mt_option_name(const struct mt_option_row *row, char out[MT_OPTION_NAME_SIZE]);

#endif
