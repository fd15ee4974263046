/*
 * Lines made of words, `word;word;word COUNT`: added in any order, printed sorted bytewise, equal
 * ones as one with their sum. A word is looked at once however many lines have it; lines are
 * compared by their words' ranks and no line is spelled out before it is printed.
 */
#ifndef MT_REPORT_OUTPUTS_WORDLINES_H
#define MT_REPORT_OUTPUTS_WORDLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mt_wordlines;

#define MT_WORD_NONE UINT32_MAX

/* NULL out of memory. */
struct mt_wordlines *mt_wordlines_create(void);
void mt_wordlines_destroy(struct mt_wordlines *lines);

/*
 * The id of a word, which may be any text: a semicolon becomes a colon, control characters '?', and
 * blanks '_' where asked for. So two texts may be one word. MT_WORD_NONE out of memory.
 */
uint32_t mt_wordlines_word(struct mt_wordlines *lines, const char *text, bool no_blanks);

/* Adds a line of at least one word. False out of memory. */
bool mt_wordlines_add(struct mt_wordlines *lines, const uint32_t *words, size_t count,
		      double value);

/* A line with two counts; of one object all lines have two, or none has. */
bool mt_wordlines_add_pair(struct mt_wordlines *lines, const uint32_t *words, size_t count,
			   double first, double second);

/*
 * Prints the lines whose rounded sum, or one of both, is at least 1, without the first `skip` words
 * of each; once, and nothing is added after that. False out of memory.
 */
bool mt_wordlines_print(struct mt_wordlines *lines, size_t skip, FILE *to);

/* What the lines that were not printed add up to: each is below a half. */
double mt_wordlines_left_out(const struct mt_wordlines *lines);

#endif
