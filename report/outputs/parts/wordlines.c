/*
 * Lines are interned as runs of words. Words are ranked once, by their bytes and the character that
 * follows them in a line: a semicolon, or nothing at its end. So a word has two ranks, no rank is a
 * prefix of another, and the first difference in ranks orders two lines. Lines are sorted by a
 * multikey quicksort.
 */
#include "report/outputs/parts/wordlines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/tables/byte_runs.h"
#include "report/tables/limited_table.h"
#include "report/tables/text.h"

enum {
	SMALL = 8, /* up to so many lines are sorted by insertion */
};

struct line {
	const uint32_t *words; /* of its run; set once all lines are added */
	uint32_t count;
	double value, second;
};

/* A word, either inside of lines or as the last word of lines. */
struct ranked {
	uint64_t start; /* first bytes and the next character, as a number of the same order */
	const char *text;
	uint32_t length;
	uint32_t id; /* 2 * word + last */
};

struct mt_wordlines {
	struct mt_strings *words;
	struct mt_byte_runs *runs;   /* of words, one for each line */
	MT_ARRAY(struct line) lines; /* by run, until they are sorted */
	MT_ARRAY(char) scratch;
	struct ranked *ranked; /* by rank, from 1 on */
	uint32_t *ranks;       /* by id */
	bool pairs;	       /* each line has two counts */
	double least;	       /* lines with a smaller count are not printed */
	size_t ties;	       /* how many lines with exactly this count are printed */
};

struct mt_wordlines *mt_wordlines_create(bool pairs)
{
	struct mt_wordlines *lines = mt_alloc(1, sizeof(*lines));

	lines->ties = SIZE_MAX;
	lines->pairs = pairs;
	lines->words = mt_strings_create();
	lines->runs = mt_byte_runs_create();
	return lines;
}

void mt_wordlines_destroy(struct mt_wordlines *lines)
{
	if (!lines)
		return;
	mt_strings_destroy(lines->words);
	mt_byte_runs_destroy(lines->runs);
	mt_array_deinit(&lines->lines);
	mt_array_deinit(&lines->scratch);
	free(lines->ranked);
	free(lines->ranks);
	free(lines);
}

uint32_t mt_wordlines_word(struct mt_wordlines *lines, const char *text, bool no_blanks)
{
	size_t length = strlen(text), used = 0;
	char *to;

	mt_array_reserve(&lines->scratch, length + 1);
	to = lines->scratch.items;
	while (*text) {
		size_t size;
		const char *character = mt_text_take(&text, &size);
		bool blank = no_blanks && *character == ' ';

		memcpy(to + used, *character == ';' ? ":" : blank ? "_" : character, size);
		used += size;
	}
	return mt_strings_intern(lines->words, to, used);
}

void mt_wordlines_add(struct mt_wordlines *lines, const uint32_t *words, size_t count, double first,
		      double second)
{
	struct line *line;

	if (!count)
		return;
	line = mt_array_at(&lines->lines,
			   mt_byte_runs_intern(lines->runs, words, count * sizeof(*words)));
	line->count = (uint32_t)count;
	line->value += first;
	line->second += second;
}

static void find_words(struct mt_wordlines *lines)
{
	size_t size;

	for (uint32_t i = 0; i < lines->lines.count; i++)
		lines->lines.items[i].words = mt_byte_runs_get(lines->runs, i, &size);
}

/* ---- Ranks ---- */

/* The end of a line is 0, which is less than any character. No word contains a semicolon. */
static uint64_t start_of(const char *text, size_t length, bool last)
{
	uint8_t bytes[8] = {0};

	memcpy(bytes, text, length < 8 ? length : 8);
	if (length < 8 && !last)
		bytes[length] = ';';
	return __builtin_bswap64(mt_get_le64(bytes));
}

static struct ranked ranked_of(const struct mt_wordlines *lines, uint32_t id)
{
	const char *text = mt_strings_get(lines->words, id / 2);
	size_t length = strlen(text);

	return (struct ranked){start_of(text, length, id & 1), text, (uint32_t)length, id};
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	size_t common = x->length < y->length ? x->length : y->length;
	int order, x_next, y_next;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	order = memcmp(x->text, y->text, common);
	if (order)
		return order;
	x_next = x->length > common ? (unsigned char)x->text[common] : x->id & 1 ? 0 : ';';
	y_next = y->length > common ? (unsigned char)y->text[common] : y->id & 1 ? 0 : ';';
	return x_next - y_next;
}

/* Marks the words that occur in the lines, inside and as their last. */
static void mark_words(const struct mt_wordlines *lines, uint32_t *ranks)
{
	for (size_t i = 0; i < lines->lines.count; i++) {
		const struct line *line = &lines->lines.items[i];
		size_t last = line->count - 1;

		for (size_t k = 0; k < last; k++)
			ranks[2 * (size_t)line->words[k]] = 1;
		ranks[2 * (size_t)line->words[last] + 1] = 1;
	}
}

/* Gives ranks from 1 on to words that occur in the lines, 0 to others. */
static void rank_words(struct mt_wordlines *lines)
{
	size_t ids = 2 * mt_strings_count(lines->words), used = 0;
	uint32_t *ranks = mt_alloc(ids, sizeof(*ranks));
	struct ranked *ranked = mt_alloc(ids + 1, sizeof(*ranked));

	lines->ranks = ranks;
	lines->ranked = ranked;
	mark_words(lines, ranks);
	for (uint32_t id = 0; id < ids; id++) {
		if (ranks[id])
			ranked[++used] = ranked_of(lines, id);
	}
	qsort(ranked + 1, used, sizeof(*ranked), compare_ranked);
	for (uint32_t rank = 1; rank <= used; rank++)
		ranks[ranked[rank].id] = rank;
}

/* ---- Sorting ---- */

/* The rank of the word in a column; 0 after the end of the line. */
static uint32_t rank_at(const struct mt_wordlines *lines, const struct line *line, size_t column)
{
	return column < line->count
		       ? lines->ranks[2 * (size_t)line->words[column] + (column + 1 == line->count)]
		       : 0;
}

/*
 * The column where two lines that are equal before `column` first differ; their common end if they
 * do not. A word at the end of a line differs from the same word within a line.
 */
static size_t differ_at(const struct line *a, const struct line *b, size_t column)
{
	size_t most = (a->count < b->count ? a->count : b->count) - (a->count != b->count);

	while (column + 8 <= most &&
	       !memcmp(a->words + column, b->words + column, 8 * sizeof(*a->words)))
		column += 8;
	while (column < most && a->words[column] == b->words[column])
		column++;
	return column;
}

static void insert_sorted(const struct mt_wordlines *lines, struct line *of, size_t count,
			  size_t column)
{
	for (size_t i = 1; i < count; i++) {
		struct line moving = of[i];
		size_t to = i;

		for (; to; to--) {
			size_t at = differ_at(&moving, &of[to - 1], column);

			if (rank_at(lines, &moving, at) >= rank_at(lines, &of[to - 1], at))
				break;
			of[to] = of[to - 1];
		}
		of[to] = moving;
	}
}

static void swap(struct line *a, struct line *b)
{
	struct line kept = *a;

	*a = *b;
	*b = kept;
}

/* Puts lines with less than `pivot` in the column first, those with more last. */
static void part(const struct mt_wordlines *lines, struct line *of, size_t column, uint32_t pivot,
		 size_t *less, size_t *more)
{
	for (size_t i = *less; i < *more;) {
		uint32_t rank = rank_at(lines, &of[i], column);

		if (rank < pivot)
			swap(&of[(*less)++], &of[i++]);
		else if (rank > pivot)
			swap(&of[--*more], &of[i]);
		else
			i++;
	}
}

/*
 * Sorts lines that are equal before `column`. The loop handles the largest part, so that recursion
 * is no deeper than the logarithm of their number.
 */
static void sort_lines(const struct mt_wordlines *lines, struct line *of, size_t count,
		       size_t column)
{
	while (count > SMALL) {
		uint32_t pivot = rank_at(lines, &of[count / 2], column);
		size_t less = 0, more = count, equal;

		part(lines, of, column, pivot, &less, &more);
		equal = pivot ? more - less : 0; /* rank 0: the lines are equal throughout */
		if (equal >= less && equal >= count - more) {
			sort_lines(lines, of, less, column);
			sort_lines(lines, of + more, count - more, column);
			of += less;
			count = equal;
			column++;
			continue;
		}
		sort_lines(lines, of + less, equal, column + 1);
		if (less > count - more) {
			sort_lines(lines, of + more, count - more, column);
			count = less;
		} else {
			sort_lines(lines, of, less, column);
			of += more;
			count -= more;
		}
	}
	insert_sorted(lines, of, count, column);
}

/* ---- Printing ---- */

/* The text of the line printed last, of which the next line shares most. */
struct spelled {
	MT_ARRAY(char) text;
	MT_ARRAY(size_t) ends; /* end of each word, its semicolon included */
};

/* Changes `out` to the text of `line`; the first `same` words are the same. */
static void spell(const struct mt_wordlines *lines, const struct line *line, size_t same,
		  struct spelled *out)
{
	size_t at = same ? out->ends.items[same - 1] : 0;

	mt_array_reserve(&out->ends, line->count);
	for (size_t i = same; i < line->count; i++) {
		const struct ranked *word = &lines->ranked[rank_at(lines, line, i)];

		mt_array_reserve(&out->text, at + word->length + 1);
		memcpy(out->text.items + at, word->text, word->length);
		at += word->length;
		out->text.items[at++] = ';';
		out->ends.items[i] = at;
	}
	out->text.count = at;
}

/* Writes a count and the character after it; rounds as printf() does, half to even. */
static void print_count(double value, char end, FILE *to)
{
	uint64_t whole = (uint64_t)value;
	char text[32], *at = text + sizeof(text);
	double rest = value - (double)whole;

	if (value >= 1e15) {
		fprintf(to, "%.0f%c", value, end);
		return;
	}
	whole += rest > 0.5 || (rest == 0.5 && whole & 1);
	*--at = end;
	do
		*--at = (char)('0' + whole % 10);
	while (whole /= 10);
	fwrite(at, 1, (size_t)(text + sizeof(text) - at), to);
}

/* Writes the count or both counts of a line, negative ones as 0. */
static void print_counts(const struct mt_wordlines *lines, const struct line *line, FILE *to)
{
	double first = line->value > 0 ? line->value : 0;
	double second = line->second > 0 ? line->second : 0;

	fputc(' ', to);
	print_count(first, lines->pairs ? ' ' : '\n', to);
	if (lines->pairs)
		print_count(second, '\n', to);
}

static int largest_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

void mt_wordlines_limit(struct mt_wordlines *lines, const struct mt_row_limit *limit)
{
	size_t count = lines->lines.count, above = 0;
	MT_CLEANUP_FREE double *values = mt_alloc(count, sizeof(*values));
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		values[i] = lines->lines.items[i].value;
		sum += fabs(values[i]);
	}
	lines->least = sum * limit->percent / 100;
	if (!limit->top || limit->top >= count)
		return;
	qsort(values, count, sizeof(*values), largest_first);
	if (values[limit->top - 1] < lines->least)
		return;
	lines->least = values[limit->top - 1];
	while (values[above] > lines->least)
		above++;
	lines->ties = limit->top - above;
}

/* Whether a line is printed. *ties: how many lines with exactly the least count may still be. */
static bool is_printed(const struct mt_wordlines *lines, const struct line *line, size_t *ties)
{
	if (line->value < 0.5 && line->second < 0.5)
		return false;
	if (!lines->least || line->value > lines->least)
		return true;
	return line->value == lines->least && *ties && (*ties)--;
}

static void print_lines(const struct mt_wordlines *lines, size_t skip, struct spelled *spelled,
			FILE *to)
{
	const struct line *last = NULL;
	size_t ties = lines->ties;

	for (size_t i = 0; i < lines->lines.count; i++) {
		const struct line *line = &lines->lines.items[i];
		size_t from;

		if (!is_printed(lines, line, &ties))
			continue;
		spell(lines, line, last ? differ_at(line, last, 0) : 0, spelled);
		from = skip ? spelled->ends.items[skip - 1] : 0;
		fwrite(spelled->text.items + from, 1, spelled->text.count - 1 - from, to);
		print_counts(lines, line, to);
		last = line;
	}
}

double mt_wordlines_left_out(const struct mt_wordlines *lines)
{
	double sum = 0;

	for (size_t i = 0; i < lines->lines.count; i++) {
		const struct line *line = &lines->lines.items[i];

		if (line->value < 0.5 && line->second < 0.5)
			sum += line->value + line->second;
	}
	return sum;
}

void mt_wordlines_print(struct mt_wordlines *lines, size_t skip, FILE *to)
{
	struct spelled spelled = {0};

	find_words(lines);
	rank_words(lines);
	sort_lines(lines, lines->lines.items, lines->lines.count, 0);
	print_lines(lines, skip, &spelled, to);
	mt_array_deinit(&spelled.text);
	mt_array_deinit(&spelled.ends);
}
