/*
 * report/outputs/parts/wordlines: lines come out in the order of their sorted text, and are
 * compared with it.
 */
#include "report/outputs/parts/wordlines.h"

#include <stdlib.h>
#include <string.h>

#include "report/tables/limited_table.h"
#include "tests/unit/unit.h"

/* Prefixes of each other, continued by characters below and above a semicolon. */
static const char *const texts[] = {
	"a",	 "a b", "a<b>",	   "a:",       "ab",	  "",	       "A",	     "\xc3\xa4",
	"a b c", "b",	"seven b", "eight by", "eight b", "eight by.", "eight by 9", "eight by:"};

enum {
	TEXTS = sizeof(texts) / sizeof(*texts),
	LINES = 3000,
	DEPTH = 6,
	ROOTS = 20, /* first words of half of the lines */
};

static char *print(struct mt_wordlines *lines, size_t skip)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	mt_wordlines_print(lines, skip, to);
	fclose(to);
	return text;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The expected output: sorted texts, with equal ones counted. */
static char *expected(char **sorted, size_t count)
{
	char *text = NULL;
	size_t size, equal;
	FILE *to = open_memstream(&text, &size);

	qsort(sorted, count, sizeof(*sorted), compare_texts);
	for (size_t i = 0; i < count; i += equal) {
		for (equal = 1; i + equal < count && !strcmp(sorted[i], sorted[i + equal]);)
			equal++;
		fprintf(to, "%s %zu\n", sorted[i], equal);
	}
	fclose(to);
	return text;
}

static char *add_random_line(struct mt_wordlines *lines, const uint32_t *words)
{
	uint32_t line[ROOTS + DEPTH];
	size_t roots = rand() % 2 ? (size_t)(rand() % 4) * ROOTS / 4 : ROOTS;
	size_t count = roots + 1 + (size_t)(rand() % DEPTH);
	char text[512] = "";

	for (size_t i = 0; i < count; i++) {
		/* the first columns are mostly equal, like the roots of stacks */
		int which = i < roots + 2 && rand() % (i < roots ? 64 : 8) ? 0 : rand() % TEXTS;

		line[i] = words[which];
		strcat(text, i ? ";" : "");
		strcat(text, texts[which]);
	}
	mt_wordlines_add(lines, line, count, 1, 0);
	return strdup(text);
}

MT_TEST(lines_are_sorted_as_their_text)
{
	struct mt_wordlines *lines = mt_wordlines_create(false);
	char *sorted[LINES], *ours, *theirs;
	uint32_t words[TEXTS];

	srand(4);
	for (size_t i = 0; i < TEXTS; i++)
		words[i] = mt_wordlines_word(lines, texts[i], false);
	for (size_t i = 0; i < LINES; i++)
		sorted[i] = add_random_line(lines, words);
	ours = print(lines, 0);
	theirs = expected(sorted, LINES);
	MT_CHECK_STR(ours, theirs);
	for (size_t i = 0; i < LINES; i++)
		free(sorted[i]);
	free(ours);
	free(theirs);
	mt_wordlines_destroy(lines);
}

MT_TEST(a_limit_leaves_the_largest_lines_and_as_many_as_it_says)
{
	static const double values[] = {5, 7, 7, -9, 7, 30};
	static const struct {
		struct mt_row_limit limit;
		const char *want;
	} cases[] = {
		{{0}, "a 5\nb 7\nc 7\ne 7\nf 30\n"},
		{{.top = 2}, "b 7\nf 30\n"},
		{{.top = 3}, "b 7\nc 7\nf 30\n"},
		{{.top = 9}, "a 5\nb 7\nc 7\ne 7\nf 30\n"},
		{{.percent = 10}, "b 7\nc 7\ne 7\nf 30\n"}, /* of 65 */
		{{.top = 3, .percent = 40}, "f 30\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mt_wordlines *lines = mt_wordlines_create(false);
		char *ours;

		for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++) {
			const char text[] = {(char)('a' + k), '\0'};
			uint32_t word = mt_wordlines_word(lines, text, false);

			mt_wordlines_add(lines, &word, 1, values[k], 0);
		}
		mt_wordlines_limit(lines, &cases[i].limit);
		MT_CHECK(mt_wordlines_left_out(lines) == -9);
		ours = print(lines, 0);
		MT_CHECK_STR(ours, cases[i].want);
		free(ours);
		mt_wordlines_destroy(lines);
	}
}

MT_TEST(words_are_made_fit)
{
	struct mt_wordlines *lines = mt_wordlines_create(false);

	MT_CHECK_EQ(mt_wordlines_word(lines, "a;b", false), mt_wordlines_word(lines, "a:b", false));
	MT_CHECK_EQ(mt_wordlines_word(lines, "a b", true), mt_wordlines_word(lines, "a_b", false));
	MT_CHECK_EQ(mt_wordlines_word(lines, "a\nb", false), mt_wordlines_word(lines, "a?b", true));
	MT_CHECK(mt_wordlines_word(lines, "a b", false) != mt_wordlines_word(lines, "a b", true));
	mt_wordlines_destroy(lines);
}

MT_TEST(counts_are_rounded_as_printf_does)
{
	static const double values[] = {0.25, 0.5, 1.5, 2.5, 3.5, 1e14 + 0.75, 4e17, 0};
	char want[64], text[2] = "a";

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct mt_wordlines *lines = mt_wordlines_create(false);
		uint32_t word = mt_wordlines_word(lines, text, false);
		char *ours;

		mt_wordlines_add(lines, &word, 1, values[i], 0);
		ours = print(lines, 0);
		snprintf(want, sizeof(want), "a %.0f\n", values[i]);
		MT_CHECK_STR(ours, values[i] < 0.5 ? "" : want);
		free(ours);
		mt_wordlines_destroy(lines);
	}
}

MT_TEST(no_lines_are_no_text)
{
	struct mt_wordlines *lines = mt_wordlines_create(false);
	char *ours = print(lines, 1);

	MT_CHECK_STR(ours, "");
	free(ours);
	mt_wordlines_destroy(lines);
}

MT_TEST(pairs_are_added_up_and_none_is_below_0)
{
	struct mt_wordlines *lines = mt_wordlines_create(true);
	uint32_t a = mt_wordlines_word(lines, "a", false), b = mt_wordlines_word(lines, "b", false),
		 c = mt_wordlines_word(lines, "c", false);
	char *text;

	mt_wordlines_add(lines, &b, 1, 0, 7);
	mt_wordlines_add(lines, &a, 1, 2, 5);
	mt_wordlines_add(lines, &a, 1, 1, -9);
	mt_wordlines_add(lines, &c, 1, 0, -3);
	text = print(lines, 0);
	MT_CHECK_STR(text, "a 3 0\nb 0 7\n");
	MT_CHECK_EQ(mt_wordlines_left_out(lines), -3);
	free(text);
	mt_wordlines_destroy(lines);
}

MT_TEST_MAIN
