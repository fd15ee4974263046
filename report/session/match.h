/*
 * Selectors of the command line: texts as a comma list of words or a /regex/, and sets of numbers.
 */
#ifndef MT_REPORT_SESSION_MATCH_H
#define MT_REPORT_SESSION_MATCH_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_match;

/*
 * Adds "a,b,c" or "/regex/" (POSIX extended) to *match, which is created if NULL. If an option is
 * given twice, either value matches. A regex that does not compile is a usage error naming
 * `option`.
 */
struct mt_error *mt_match_add(const char *option, const char *text, struct mt_match **match);
/* Adds one regex, with or without slashes around it. */
struct mt_error *mt_match_add_expression(const char *option, const char *text,
					 struct mt_match **match);
/* Makes words with * ? or [ match as shell patterns, too. */
void mt_match_take_globs(struct mt_match *match);
void mt_match_destroy(struct mt_match *match);

/* True if a word equals text, or a regex matches a part of it. A NULL match matches everything. */
bool mt_match_text(const struct mt_match *match, const char *text);

/* The number of words without regexes, and a word by index, in the order of the command line. */
size_t mt_match_words(const struct mt_match *match);
const char *mt_match_word(const struct mt_match *match, size_t i);

/* A set of whole numbers: "1,2,3". */
struct mt_numbers {
	long *items;
	size_t count, capacity;
};

/*
 * Adds numbers; a usage error naming `option` if text is not a comma list of non-negative numbers.
 */
struct mt_error *mt_numbers_add(const char *option, const char *text, struct mt_numbers *numbers);
void mt_numbers_deinit(struct mt_numbers *numbers);

/* True if the set is empty or has the number. */
bool mt_numbers_match(const struct mt_numbers *numbers, long number);

#endif
