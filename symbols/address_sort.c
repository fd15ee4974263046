/*
 * A radix sort from the lowest digit up; digits that all addresses share cost nothing.
 */
#include "symbols/address_sort.h"

#include <stdlib.h>
#include <string.h>

enum {
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
};

static size_t digit_of(const struct mt_addressed *item, unsigned int shift)
{
	return item->address >> shift & (DIGITS - 1);
}

static void sort_digit(const struct mt_addressed *from, struct mt_addressed *to, size_t count,
		       unsigned int shift)
{
	size_t at[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		at[digit_of(&from[i], shift)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t n = at[d];

		at[d] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[at[digit_of(&from[i], shift)]++] = from[i];
}

/* The bits in which addresses differ; 0 where they are in order already. */
static uint64_t differing(const struct mt_addressed *items, size_t count)
{
	uint64_t bits = 0;
	bool sorted = true;

	for (size_t i = 1; i < count; i++) {
		bits |= items[i].address ^ items[0].address;
		sorted &= items[i - 1].address <= items[i].address;
	}
	return sorted ? 0 : bits;
}

bool mt_address_sort(struct mt_addressed *items, size_t count)
{
	uint64_t bits = differing(items, count);
	struct mt_addressed *spare, *from = items, *to, *swap;

	if (!bits)
		return true;
	spare = malloc(count * sizeof(*spare));
	if (!spare)
		return false;
	to = spare;
	for (unsigned int shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
		if (!(bits >> shift & (DIGITS - 1)))
			continue;
		sort_digit(from, to, count, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	free(spare);
	return true;
}
