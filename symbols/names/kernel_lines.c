/*
 * The addresses divide the lines into gaps. Only the first and the last line of each gap matter:
 * the last line at or before an address, and the first one after it. If the first line after an
 * address covers no address, its symbol type marks an end, so that addresses past it do not get its
 * name.
 */
#include "symbols/names/kernel_lines.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "symbols/names/kernel.h"

/* The range between an address and the next one. */
struct gap {
	uint64_t first, last; /* lowest and highest line in it; last 0: none */
};

struct wanted {
	uint64_t start;
	bool covers; /* covers an address; otherwise only marks an end */
};

struct mt_kernel_lines {
	const uint64_t *addresses;
	size_t count;
	struct gap *gaps;      /* count + 1: gap i ends at address i */
	struct wanted *wanted; /* selected starts, ascending, after the first pass */
	size_t wanted_count;
};

MT_DEFINE_CLEANUP(mt_kernel_lines, struct mt_kernel_lines)

struct mt_kernel_lines *mt_kernel_lines_create(const uint64_t *addresses, size_t count)
{
	struct mt_kernel_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->addresses = addresses;
	lines->count = count;
	lines->gaps = calloc(count + 1, sizeof(*lines->gaps));
	lines->wanted = malloc((2 * count + 1) * sizeof(*lines->wanted));
	if (lines->gaps && lines->wanted)
		return lines;
	mt_kernel_lines_destroy(lines);
	return NULL;
}

void mt_kernel_lines_destroy(struct mt_kernel_lines *lines)
{
	if (!lines)
		return;
	free(lines->gaps);
	free(lines->wanted);
	free(lines);
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The value of eight hexadecimal digits, computed in parallel; false if any is invalid. */
static bool read_digits(const char *text, uint64_t *value)
{
	uint64_t x = mt_get_le64(text), letters = (x & EACH(0x40)) >> 6;
	uint64_t v = (x & EACH(0x0f)) + letters * 9;

	if ((x & EACH(0xf0)) != EACH(0x30) + letters * 0x30 || v & EACH(0xf0) ||
	    ((v + EACH(6)) & EACH(0x10)) != letters << 4)
		return false;
	v = (v << 4 | v >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v << 8 | v >> 16) & UINT64_C(0x0000ffff0000ffff);
	*value = (v << 16 | v >> 32) & UINT32_MAX;
	return true;
}

static bool is_function(char letter)
{
	return letter == 't' || letter == 'T' || letter == 'w' || letter == 'W';
}

/*
 * The address of a function in a line like "ffffffff81000000 T _text"; 0 for other lines. The
 * padding of a function belongs to the function before it.
 */
static uint64_t line_start(const char *line, size_t size)
{
	uint64_t high, low;

	if (size < 19 || line[16] != ' ' || !is_function(line[17]) || !read_digits(line, &high) ||
	    !read_digits(line + 8, &low) || mt_kernel_is_padding(line + 19, size - 19))
		return 0;
	return high << 32 | low;
}

/* The size of the line at text, with its newline. */
static size_t line_size(const char *text, size_t size)
{
	const char *newline = memchr(text, '\n', size);

	return newline ? (size_t)(newline - text) + 1 : size;
}

size_t mt_kernel_lines_functions(char *text, size_t size)
{
	char *out = text;

	for (size_t at = 0, length; at < size; at += length) {
		length = line_size(text + at, size - at);
		if (!line_start(text + at, length))
			continue;
		memmove(out, text + at, length);
		out += length;
	}
	return (size_t)(out - text);
}

void mt_kernel_lines_see(struct mt_kernel_lines *lines, const void *text, size_t size)
{
	const char *at = text, *end = at + size;

	while (at < end) {
		size_t length = line_size(at, (size_t)(end - at));
		uint64_t start = line_start(at, length);
		size_t below = mt_array_split(lines->count, i, lines->addresses[i] < start);
		struct gap *gap = &lines->gaps[below];

		at += length;
		if (!start)
			continue;
		if (!gap->last || start < gap->first)
			gap->first = start;
		if (start > gap->last)
			gap->last = start;
	}
}

static void want(struct mt_kernel_lines *lines, uint64_t start, bool covers)
{
	size_t count = lines->wanted_count;

	if (count && lines->wanted[count - 1].start == start)
		lines->wanted[count - 1].covers |= covers;
	else
		lines->wanted[lines->wanted_count++] = (struct wanted){start, covers};
}

/* After the first pass: selects starts, ascending. */
static void choose_starts(struct mt_kernel_lines *lines)
{
	uint64_t before = 0;

	for (size_t i = 0; i < lines->count; i++) {
		size_t after = i + 1;

		if (lines->gaps[i].last)
			before = lines->gaps[i].last;
		if (!before)
			continue;
		while (after < lines->count && !lines->gaps[after].last)
			after++;
		want(lines, before, true);
		if (lines->gaps[after].last)
			want(lines, lines->gaps[after].first, false);
		i = after - 1;
	}
	want(lines, UINT64_MAX, false); /* no line starts there */
}

static int compare_wanted(const void *key, const void *element)
{
	uint64_t start = *(const uint64_t *)key;
	const struct wanted *wanted = element;

	return start < wanted->start ? -1 : start > wanted->start;
}

size_t mt_kernel_lines_keep(struct mt_kernel_lines *lines, void *text, size_t size)
{
	char *at = text, *end = at + size, *out = text;

	if (!lines->wanted_count)
		choose_starts(lines);
	while (at < end) {
		size_t length = line_size(at, (size_t)(end - at));
		uint64_t start = line_start(at, length);
		const struct wanted *wanted =
			start ? bsearch(&start, lines->wanted, lines->wanted_count, sizeof(*wanted),
					compare_wanted)
			      : NULL;

		if (wanted) {
			memmove(out, at, length);
			if (!wanted->covers)
				((char *)memchr(out, ' ', length))[1] = MT_KERNEL_END;
			out += length;
		}
		at += length;
	}
	return (size_t)(out - (char *)text);
}

size_t mt_kernel_lines_choose(char *text, size_t size, const uint64_t *addresses, size_t count)
{
	MT_CLEANUP(mt_kernel_lines_destroy_p)
	struct mt_kernel_lines *lines = mt_kernel_lines_create(addresses, count);

	if (!lines)
		return 0;
	mt_kernel_lines_see(lines, text, size);
	return mt_kernel_lines_keep(lines, text, size);
}
