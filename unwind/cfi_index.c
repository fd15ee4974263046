/*
 * Builds and searches the linear index of a CFI section. Its size is bounded by the section's: an
 * FDE takes 12 bytes at least.
 */
#include "unwind/cfi_index.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "unwind/cfi_entry.h"

struct range {
	uint64_t start, end;
	size_t offset;
};

struct mt_cfi_index {
	MT_ARRAY(struct range) ranges;
};

/*
 * Functions that the linker dropped leave FDEs at odd addresses that may overlap others: so many
 * are looked past.
 */
#define OVERLAP_MAX 8

MT_DEFINE_CLEANUP(mt_cfi_index, struct mt_cfi_index)

void mt_cfi_index_destroy(struct mt_cfi_index *index)
{
	if (!index)
		return;
	mt_array_deinit(&index->ranges);
	free(index);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* False out of memory. fde->cie is that at *cie_offset, which changes rarely. */
static bool index_entry(struct mt_cfi_index *index, const struct mt_cfi_section *section,
			size_t offset, const struct mt_cfi_entry *entry, size_t *cie_offset,
			struct mt_cfi_fde *fde)
{
	struct range *range;

	if (entry->cie_offset != *cie_offset) {
		*cie_offset = SIZE_MAX;
		if (!mt_cfi_cie_read(section, entry->cie_offset, &fde->cie))
			return true;
		*cie_offset = entry->cie_offset;
	}
	if (!mt_cfi_fde_read_body(section, entry, fde) || fde->end == fde->start)
		return true;
	range = mt_array_push(&index->ranges);
	if (range)
		*range = (struct range){.start = fde->start, .end = fde->end, .offset = offset};
	return range;
}

struct mt_cfi_index *mt_cfi_index_create(const struct mt_cfi_section *section)
{
	MT_CLEANUP(mt_cfi_index_destroy_p) struct mt_cfi_index *index = calloc(1, sizeof(*index));
	size_t cie_offset = SIZE_MAX, offset = 0;
	struct mt_cfi_entry entry;
	struct mt_cfi_fde fde;

	if (!index)
		return NULL;
	for (; mt_cfi_entry_read(section, offset, &entry); offset = entry.next) {
		if (entry.terminator || entry.cie)
			continue;
		if (!index_entry(index, section, offset, &entry, &cie_offset, &fde))
			return NULL;
	}
	if (index->ranges.count)
		qsort(index->ranges.items, index->ranges.count, sizeof(struct range),
		      compare_ranges);
	return MT_TAKE(index);
}

/* How many ranges start at or below address. */
static size_t ranges_below(const struct mt_cfi_index *index, uint64_t address)
{
	size_t low = 0, high = index->ranges.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->ranges.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool mt_cfi_index_find(const struct mt_cfi_index *index, uint64_t address, size_t *offset)
{
	size_t below = ranges_below(index, address);

	for (size_t i = 0; i < OVERLAP_MAX && below; i++) {
		const struct range *range = &index->ranges.items[--below];

		if (address < range->end) {
			*offset = range->offset;
			return true;
		}
	}
	return false;
}

size_t mt_cfi_index_count(const struct mt_cfi_index *index)
{
	return index->ranges.count;
}
