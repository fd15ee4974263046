/*
 * Flattening by one sweep over the starts, with the intervals that are open in a heap by rank.
 */
#include "symbols/interval_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"

/* From start to the next piece's. */
struct piece {
	uint64_t start;
	uint32_t value;
};

struct mt_interval_table {
	MT_ARRAY(struct piece) pieces;
};

MT_DEFINE_CLEANUP(mt_interval_table, struct mt_interval_table)

struct sweep {
	const struct mt_interval *items;
	size_t *heap; /* indices of items, the one that wins first */
	size_t open;
	struct mt_interval_table *table;
};

enum {
	DIGIT = 11,
	DIGITS = 1 << DIGIT,
};

/* One pass of a radix sort: stable, by DIGIT bits of the start less `base`. */
static void sort_digit(const struct mt_interval *from, struct mt_interval *to, size_t count,
		       uint64_t base, unsigned int shift)
{
	size_t at[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		at[(from[i].start - base) >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t here = at[d];

		at[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[at[(from[i].start - base) >> shift & (DIGITS - 1)]++] = from[i];
}

/* By start; false out of memory. */
static bool sort_intervals(struct mt_interval *items, size_t count)
{
	MT_CLEANUP_FREE struct mt_interval *other = malloc((count + 1) * sizeof(*other));
	struct mt_interval *from = items, *to = other, *swapped;
	uint64_t low = UINT64_MAX, high = 0;

	if (!other)
		return false;
	for (size_t i = 0; i < count; i++) {
		low = items[i].start < low ? items[i].start : low;
		high = items[i].start > high ? items[i].start : high;
	}
	for (unsigned int shift = 0; count && shift < 64 && (high - low) >> shift; shift += DIGIT) {
		sort_digit(from, to, count, low, shift);
		swapped = from;
		from = to;
		to = swapped;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	return true;
}

static bool wins(const struct sweep *s, size_t a, size_t b)
{
	const struct mt_interval *x = &s->items[a], *y = &s->items[b];

	return x->rank != y->rank ? x->rank > y->rank : x->value > y->value;
}

static void swap(size_t *a, size_t *b)
{
	size_t kept = *a;

	*a = *b;
	*b = kept;
}

static void heap_push(struct sweep *s, size_t item)
{
	size_t at = s->open++;

	s->heap[at] = item;
	for (; at && wins(s, s->heap[at], s->heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&s->heap[at], &s->heap[(at - 1) / 2]);
}

static void heap_pop(struct sweep *s)
{
	size_t at = 0, child;

	s->heap[0] = s->heap[--s->open];
	while ((child = 2 * at + 1) < s->open) {
		if (child + 1 < s->open && wins(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!wins(s, s->heap[child], s->heap[at]))
			return;
		swap(&s->heap[child], &s->heap[at]);
		at = child;
	}
}

/* From here on value holds; false out of memory. */
static bool mark(struct sweep *s, uint64_t start, uint32_t value)
{
	size_t count = s->table->pieces.count;
	struct piece *last = count ? &s->table->pieces.items[count - 1] : NULL, *piece;

	if (last && last->start == start) {
		last->value = value;
		if (count > 1 && last[-1].value == value)
			s->table->pieces.count--;
		return true;
	}
	if (last ? last->value == value : value == MT_INTERVAL_NONE)
		return true;
	piece = mt_array_push(&s->table->pieces);
	if (piece)
		*piece = (struct piece){start, value};
	return piece;
}

/* Closes what ends before `until`, one winner after the other. */
static bool advance(struct sweep *s, uint64_t until)
{
	while (s->open && s->items[s->heap[0]].end <= until) {
		uint64_t end = s->items[s->heap[0]].end;

		while (s->open && s->items[s->heap[0]].end <= end)
			heap_pop(s);
		if (!mark(s, end, s->open ? s->items[s->heap[0]].value : MT_INTERVAL_NONE))
			return false;
	}
	return true;
}

struct mt_interval_table *mt_interval_table_create(struct mt_interval *items, size_t count)
{
	MT_CLEANUP(mt_interval_table_destroy_p)
	struct mt_interval_table *table = calloc(1, sizeof(*table));
	MT_CLEANUP_FREE size_t *heap = calloc(count + 1, sizeof(*heap));
	struct sweep sweep = {.items = items, .heap = heap, .table = table};

	if (!table || !heap || !sort_intervals(items, count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (items[i].start >= items[i].end)
			continue;
		if (!advance(&sweep, items[i].start))
			return NULL;
		heap_push(&sweep, i);
		if (!mark(&sweep, items[i].start, items[sweep.heap[0]].value))
			return NULL;
	}
	return advance(&sweep, UINT64_MAX) ? MT_TAKE(table) : NULL;
}

void mt_interval_table_destroy(struct mt_interval_table *table)
{
	if (!table)
		return;
	mt_array_deinit(&table->pieces);
	free(table);
}

uint32_t mt_interval_table_find(const struct mt_interval_table *table, uint64_t address)
{
	const struct piece *pieces = table->pieces.items;
	size_t low = 0, high = table->pieces.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pieces[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? pieces[low - 1].value : MT_INTERVAL_NONE;
}
