/* Lines in order of address, of which some are wanted, and then in their own order again. */
#include "symbols/kernel_lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"

struct line {
	uint64_t start;
	size_t at, size; /* in the text, with the newline */
	bool wanted;
};

struct lines {
	struct line *items;
	size_t count, capacity;
};

/* "ffffffff81000000 T _text": the address of a function; 0 for other lines. */
static uint64_t function_start(const char *line, size_t size)
{
	uint64_t start = 0;
	size_t i = 0;

	for (; i < size && i < 16; i++) {
		char c = line[i];

		if (c >= '0' && c <= '9')
			start = start << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			start = start << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	if (i + 3 > size || line[i] != ' ' || !line[i + 1] || !strchr("tTwW", line[i + 1]))
		return 0;
	return start;
}

static bool list_lines(const char *text, size_t size, struct lines *out)
{
	for (size_t at = 0; at < size;) {
		const char *newline = memchr(text + at, '\n', size - at);
		size_t length = newline ? (size_t)(newline - text) + 1 - at : size - at;
		uint64_t start = function_start(text + at, length);

		if (start) {
			if (!mt_array_reserve(out, out->count + 1))
				return false;
			out->items[out->count++] =
				(struct line){.start = start, .at = at, .size = length};
		}
		at += length;
	}
	return true;
}

static int compare_starts(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int compare_places(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Wants all lines from index i on that start where it does; gives the index behind them. */
static size_t want_equals(struct lines *lines, size_t i)
{
	uint64_t start = i < lines->count ? lines->items[i].start : 0;

	for (; i < lines->count && lines->items[i].start == start; i++)
		lines->items[i].wanted = true;
	return i;
}

static void want_around(struct lines *lines, const uint64_t *addresses, size_t count)
{
	size_t begin = 0, next = 0; /* of the lines with the last start before, and behind them */

	for (size_t i = 0; i < count; i++) {
		while (next < lines->count && lines->items[next].start <= addresses[i]) {
			if (lines->items[next].start != lines->items[begin].start)
				begin = next;
			next++;
		}
		if (next)
			want_equals(lines, want_equals(lines, begin));
	}
}

size_t mt_kernel_lines_choose(char *text, size_t size, const uint64_t *addresses, size_t count)
{
	struct lines lines = {0};
	size_t used = 0;

	if (!list_lines(text, size, &lines) || !lines.count) {
		free(lines.items);
		return 0;
	}
	qsort(lines.items, lines.count, sizeof(*lines.items), compare_starts);
	want_around(&lines, addresses, count);
	qsort(lines.items, lines.count, sizeof(*lines.items), compare_places);
	for (size_t i = 0; i < lines.count; i++) {
		if (!lines.items[i].wanted)
			continue;
		memmove(text + used, text + lines.items[i].at, lines.items[i].size);
		used += lines.items[i].size;
	}
	free(lines.items);
	return used;
}
