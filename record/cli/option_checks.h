/* Options that do not go together. Pure; errors are MT_ERR_USAGE. */
#ifndef MT_RECORD_CLI_OPTION_CHECKS_H
#define MT_RECORD_CLI_OPTION_CHECKS_H

#include <stdbool.h>

struct mt_error;
struct mt_option_row;
struct mt_record_options;

/* An error if options of a recording or a count exclude each other. */
struct mt_error *mt_options_check(const struct mt_record_options *options);

/* True if --stat takes an option: events, targets, when to count, and where counts go. */
bool mt_option_is_for_counting(const struct mt_option_row *row);

/* An error if --stat was given together with `other`; NULL: there is no such option. */
struct mt_error *mt_options_check_counting(const struct mt_record_options *options,
					   const struct mt_option_row *other);

#endif
