/* Lines in order of address, of which some are wanted, and then in their own order again. */
#include "symbols/kernel_lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/array.h"
#include "symbols/address_sort.h"

struct line {
	uint32_t at; /* in the text */
	bool wanted;
};

/* Those of functions. */
struct lines {
	MT_ARRAY(struct line) list;	      /* as they stand in the text */
	MT_ARRAY(struct mt_addressed) starts; /* of these, by index; then in order of address */
};

static void lines_deinit(struct lines *lines)
{
	mt_array_deinit(&lines->list);
	mt_array_deinit(&lines->starts);
}

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

/* The size of the line that stands there, with its newline. */
static size_t line_size(const char *text, size_t size, size_t at)
{
	const char *newline = memchr(text + at, '\n', size - at);

	return newline ? (size_t)(newline - text) + 1 - at : size - at;
}

static bool add_line(struct lines *lines, size_t at, uint64_t start)
{
	struct line *line = mt_array_push(&lines->list);
	struct mt_addressed *addressed = mt_array_push(&lines->starts);

	if (!line || !addressed)
		return false;
	line->at = (uint32_t)at;
	*addressed = (struct mt_addressed){start, (uint32_t)lines->list.count - 1};
	return true;
}

static bool list_lines(const char *text, size_t size, struct lines *out)
{
	for (size_t at = 0, length; at < size; at += length) {
		uint64_t start;

		length = line_size(text, size, at);
		start = function_start(text + at, length);
		if (start && !add_line(out, at, start))
			return false;
	}
	return mt_address_sort(out->starts.items, out->starts.count);
}

/* Wants all lines from the i-th start on that have the same; gives the index behind them. */
static size_t want_equals(struct lines *lines, size_t i)
{
	uint64_t start = i < lines->starts.count ? lines->starts.items[i].address : 0;

	for (; i < lines->starts.count && lines->starts.items[i].address == start; i++)
		lines->list.items[lines->starts.items[i].index].wanted = true;
	return i;
}

static void want_around(struct lines *lines, const uint64_t *addresses, size_t count)
{
	const struct mt_addressed *starts = lines->starts.items;
	size_t begin = 0, next = 0; /* of the lines with the last start before, and behind them */

	for (size_t i = 0; i < count; i++) {
		while (next < lines->starts.count && starts[next].address <= addresses[i]) {
			if (starts[next].address != starts[begin].address)
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

	if (size > UINT32_MAX || !list_lines(text, size, &lines)) {
		lines_deinit(&lines);
		return 0;
	}
	want_around(&lines, addresses, count);
	for (size_t i = 0; i < lines.list.count; i++) {
		size_t at = lines.list.items[i].at, length;

		if (!lines.list.items[i].wanted)
			continue;
		length = line_size(text, size, at);
		memmove(text + used, text + at, length);
		used += length;
	}
	lines_deinit(&lines);
	return used;
}
