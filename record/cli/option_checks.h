/* Checks combinations of options. Pure; errors are MT_ERR_USAGE. */
#ifndef MT_RECORD_CLI_OPTION_CHECKS_H
#define MT_RECORD_CLI_OPTION_CHECKS_H

#include <stdbool.h>

struct mt_error;
struct mt_option_row;
struct mt_record_options;

/* Returns an error if options of a recording or of a count exclude each other. */
struct mt_error *mt_options_check(const struct mt_record_options *options);

/* Returns true if --stat accepts the option: events, targets, when to count, and the output. */
bool mt_option_is_for_counting(const struct mt_option_row *row);

/* Returns an error if --stat is given together with `other`; NULL: there is no such option. */
struct mt_error *mt_options_check_counting(const struct mt_record_options *options,
					   const struct mt_option_row *other);

#endif
