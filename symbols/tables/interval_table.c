/* Flattens intervals in one sweep over their starts, with open intervals in a heap by rank. */
#include "symbols/tables/interval_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"

/* A range from start to the next piece's start. */
struct piece {
	uint64_t start;
	uint32_t value;
} __attribute__((packed, aligned(4))); /* packed, because there are many */

struct mt_interval_table {
	MT_ARRAY(struct piece) pieces;
};

MT_DEFINE_CLEANUP(mt_interval_table, struct mt_interval_table)

struct sweep {
	const struct mt_interval *items;
	size_t *heap; /* indices of items, the winner first */
	size_t open;
	struct mt_interval_table *table;
};

enum {
	FEW = 16,
};

static void sort_few(struct mt_interval *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct mt_interval item = items[i];
		size_t at = i;

		for (; at && items[at - 1].start > item.start; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* Merges two adjacent sorted runs; `other` has room for the first one. */
static void merge(struct mt_interval *items, size_t first, size_t count, struct mt_interval *other)
{
	size_t a = 0, b = first, to = 0;

	if (items[first - 1].start <= items[first].start)
		return;
	memcpy(other, items, first * sizeof(*items));
	while (a < first)
		items[to++] =
			b < count && items[b].start < other[a].start ? items[b++] : other[a++];
}

/* Sorts by start, stable; false out of memory. Most debug information is nearly sorted. */
static bool sort_intervals(struct mt_interval *items, size_t count)
{
	MT_CLEANUP_FREE struct mt_interval *other = NULL;

	for (size_t i = 0; i < count; i += FEW)
		sort_few(items + i, count - i < FEW ? count - i : FEW);
	if (count <= FEW)
		return true;
	other = malloc(count * sizeof(*other));
	for (size_t run = FEW; other && run < count; run *= 2) {
		for (size_t i = 0; i + run < count; i += 2 * run)
			merge(items + i, run, count - i < 2 * run ? count - i : 2 * run, other);
	}
	return other;
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

/* Sets the value from `start` on; false out of memory. */
static bool mark(struct sweep *s, uint64_t start, uint32_t value)
{
	size_t count = s->table->pieces.count;
	struct piece *last = count ? &s->table->pieces.items[count - 1] : NULL;

	if (last && last->start == start) {
		last->value = value;
		if (count > 1 && last[-1].value == value)
			s->table->pieces.count--;
		return true;
	}
	if (last ? last->value == value : value == MT_INTERVAL_NONE)
		return true;
	return mt_array_append(&s->table->pieces, (struct piece){start, value});
}

/* Closes intervals that end before `until`, one winner after the other. */
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
	MT_CLEANUP_FREE size_t *heap = malloc((count + 1) * sizeof(*heap));
	struct sweep sweep = {.items = items, .heap = heap, .table = table};

	if (!table || !heap || !sort_intervals(items, count) ||
	    !mt_array_reserve(&table->pieces, 2 * count))
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
	if (!advance(&sweep, UINT64_MAX))
		return NULL;
	mt_array_shrink(&table->pieces);
	return MT_TAKE(table);
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
	size_t count = mt_array_split(table->pieces.count, at, pieces[at].start <= address);

	return count ? pieces[count - 1].value : MT_INTERVAL_NONE;
}
