/*
 * Lines of words, `word;word;word COUNT`: added in any order, printed in bytewise order, equal
 * lines merged. Each word is stored once, lines are compared by the ranks of their words, and a
 * line's text is made only when it is printed.
 */
#ifndef MT_REPORT_OUTPUTS_WORDLINES_H
#define MT_REPORT_OUTPUTS_WORDLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mt_row_limit;
struct mt_wordlines;

/* Creates an empty set of lines; with `pairs`, a line has two counts. The caller destroys it. */
struct mt_wordlines *mt_wordlines_create(bool pairs);
void mt_wordlines_destroy(struct mt_wordlines *lines);

/*
 * The id of a word made from any text. A semicolon becomes a colon, control characters '?', and
 * with `no_blanks` blanks become '_', so two texts may be the same word.
 */
uint32_t mt_wordlines_word(struct mt_wordlines *lines, const char *text, bool no_blanks);

/* Adds a line of at least one word. `second` is used only with pairs. */
void mt_wordlines_add(struct mt_wordlines *lines, const uint32_t *words, size_t count, double first,
		      double second);

/*
 * Restricts printing to the lines with the largest counts. Call after the last add, and only
 * without pairs.
 */
void mt_wordlines_limit(struct mt_wordlines *lines, const struct mt_row_limit *limit);

/*
 * Prints the lines with a count of at least 0.5. Counts are rounded, and the first `skip` words of
 * each line are left out. Call once, after the last add.
 */
void mt_wordlines_print(struct mt_wordlines *lines, size_t skip, FILE *to);

/* Sum of the counts of the lines not printed because they are below 0.5 or negative. */
double mt_wordlines_left_out(const struct mt_wordlines *lines);

#endif
