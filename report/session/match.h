/*
 * What a selector on the command line matches: whole words in a comma list, or one /regular
 * expression/.
 */
#ifndef MT_REPORT_SESSION_MATCH_H
#define MT_REPORT_SESSION_MATCH_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;
struct mt_match;

/*
 * Reads "a,b,c" or "/regex/" (POSIX extended). An expression that does not compile is a usage error
 * naming `option`. Adds to *match, which is created where it is NULL: an option given twice matches
 * either.
 */
struct mt_error *mt_match_add(const char *option, const char *text, struct mt_match **match);
/* Words with * ? or [ match as the shell's patterns do, too. */
void mt_match_take_globs(struct mt_match *match);
void mt_match_destroy(struct mt_match *match);

/*
 * True where a word equals text or an expression finds a place in it. A NULL match matches
 * everything.
 */
bool mt_match_text(const struct mt_match *match, const char *text);

/*
 * The words alone, in the order given, for telling the user which of them was never seen;
 * expressions count as no word.
 */
size_t mt_match_words(const struct mt_match *match);
const char *mt_match_word(const struct mt_match *match, size_t i);

/* A set of whole numbers from "1,2,3". */
struct mt_numbers {
	long *items;
	size_t count, capacity;
};

/*
 * Adds the numbers; text that is no comma list of non-negative whole numbers is a usage error
 * naming `option`.
 */
struct mt_error *mt_numbers_add(const char *option, const char *text, struct mt_numbers *numbers);
void mt_numbers_deinit(struct mt_numbers *numbers);

/* True where the set is empty or has the number. */
bool mt_numbers_match(const struct mt_numbers *numbers, long number);

#endif
