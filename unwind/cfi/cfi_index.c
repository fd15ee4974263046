/*
 * Builds and searches the index of CFI sections. The size of the sections bounds the index, because
 * an FDE takes at least 12 bytes.
 */
#include "unwind/cfi/cfi_index.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "symbols/elf/cfi_entry.h"
#include "symbols/tables/address_sort.h"

struct range {
	uint64_t start, end;
	size_t offset;
	uint32_t section; /* index of the section */
};

struct mt_cfi_index {
	const struct mt_cfi_section *sections;
	MT_ARRAY(struct range) ranges;
};

/*
 * The linker leaves FDEs of dropped functions at arbitrary addresses, where they may overlap other
 * FDEs. A lookup skips at most this many.
 */
#define OVERLAP_MAX 8

/* Approximate bytes of an FDE, to reserve memory for all at once; pages are populated on use. */
#define FDE_USUAL 24

MT_DEFINE_CLEANUP(mt_cfi_index, struct mt_cfi_index)

void mt_cfi_index_destroy(struct mt_cfi_index *index)
{
	if (!index)
		return;
	mt_array_deinit(&index->ranges);
	free(index);
}

/* Sorts by start; ranges with equal starts keep their order. False out of memory. */
static bool sort_ranges(struct mt_cfi_index *index)
{
	size_t count = index->ranges.count, in_order = 1;
	struct range *ranges = index->ranges.items;
	MT_CLEANUP_FREE struct mt_addressed *order = NULL;
	struct range *sorted;

	while (in_order < count && ranges[in_order - 1].start <= ranges[in_order].start)
		in_order++;
	if (in_order >= count) /* already sorted, as in most files */
		return true;
	order = malloc(count * sizeof(*order));
	sorted = malloc(count * sizeof(*sorted));
	for (size_t i = 0; order && sorted && i < count; i++)
		order[i] = (struct mt_addressed){ranges[i].start, (uint32_t)i};
	if (!order || !sorted || count > UINT32_MAX || !mt_address_sort(order, count)) {
		free(sorted);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = ranges[order[i].index];
	free(ranges);
	index->ranges.items = sorted;
	index->ranges.capacity = count;
	return true;
}

/* Adds an FDE. False out of memory. fde->cie, the CIE at *cie_offset, is kept for the next FDE. */
static bool index_entry(struct mt_cfi_index *index, size_t i, size_t offset,
			const struct mt_cfi_entry *entry, size_t *cie_offset,
			struct mt_cfi_fde *fde)
{
	const struct mt_cfi_section *section = &index->sections[i];
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
		*range = (struct range){fde->start, fde->end, offset, (uint32_t)i};
	return range;
}

static bool index_section(struct mt_cfi_index *index, size_t i)
{
	const struct mt_cfi_section *section = &index->sections[i];
	size_t cie_offset = SIZE_MAX, offset = 0;
	struct mt_cfi_entry entry;
	struct mt_cfi_fde fde;

	if (!mt_array_reserve(&index->ranges, index->ranges.count + section->span.size / FDE_USUAL))
		return false;
	for (; mt_cfi_entry_read(section, offset, &entry); offset = entry.next) {
		if (entry.terminator || entry.cie)
			continue;
		if (!index_entry(index, i, offset, &entry, &cie_offset, &fde))
			return false;
	}
	return true;
}

struct mt_cfi_index *mt_cfi_index_create(const struct mt_cfi_section *sections, size_t count)
{
	MT_CLEANUP(mt_cfi_index_destroy_p) struct mt_cfi_index *index = calloc(1, sizeof(*index));

	if (!index)
		return NULL;
	index->sections = sections;
	for (size_t i = 0; i < count; i++) {
		if (!index_section(index, i))
			return NULL;
	}
	return sort_ranges(index) ? MT_TAKE(index) : NULL;
}

const struct mt_cfi_section *mt_cfi_index_find(const struct mt_cfi_index *index, uint64_t address,
					       size_t *offset)
{
	size_t below =
		mt_array_split(index->ranges.count, at, index->ranges.items[at].start <= address);

	for (size_t i = 0; i < OVERLAP_MAX && below; i++) {
		const struct range *range = &index->ranges.items[--below];

		if (address < range->end) {
			*offset = range->offset;
			return &index->sections[range->section];
		}
	}
	return NULL;
}

size_t mt_cfi_index_count(const struct mt_cfi_index *index)
{
	return index->ranges.count;
}
