/* A radix sort from the lowest digit. Skips digits that all addresses share. */
#include "symbols/tables/address_sort.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/memory.h"

enum {
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
};

/* Items begin with their number. All loops over them are compiled once for each item size. */
#define FOR_EACH_SIZE static inline __attribute__((always_inline))

FOR_EACH_SIZE uint64_t number_of(const uint8_t *items, size_t i, size_t size)
{
	uint64_t number;

	memcpy(&number, items + i * size, sizeof(number));
	return number;
}

FOR_EACH_SIZE void sort_digit(const uint8_t *from, uint8_t *to, size_t count, size_t size,
			      unsigned int shift)
{
	size_t at[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		at[number_of(from, i, size) >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t n = at[d];

		at[d] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		memcpy(to + at[number_of(from, i, size) >> shift & (DIGITS - 1)]++ * size,
		       from + i * size, size);
}

/* The bits in which numbers differ; 0 if the items are already in order. */
FOR_EACH_SIZE uint64_t differing(const uint8_t *items, size_t count, size_t size)
{
	uint64_t bits = 0, first = count ? number_of(items, 0, size) : 0, last = first;
	bool sorted = true;

	for (size_t i = 1; i < count; i++) {
		uint64_t number = number_of(items, i, size);

		bits |= number ^ first;
		sorted &= last <= number;
		last = number;
	}
	return sorted ? 0 : bits;
}

FOR_EACH_SIZE bool sort(uint8_t *items, size_t count, size_t size)
{
	uint64_t bits = differing(items, count, size);
	uint8_t *spare, *from = items, *to, *swap;

	if (!bits)
		return true;
	spare = mt_resize(NULL, 1, count * size);
	if (!spare)
		return false;
	to = spare;
	for (unsigned int shift = 0; shift < 64 && bits >> shift; shift += DIGIT_BITS) {
		if (!(bits >> shift & (DIGITS - 1)))
			continue;
		sort_digit(from, to, count, size, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * size);
	free(spare);
	return true;
}

bool mt_address_sort(struct mt_addressed *items, size_t count)
{
	_Static_assert(!offsetof(struct mt_addressed, address), "the number comes first");
	return sort((uint8_t *)items, count, sizeof(*items));
}

bool mt_number_sort(uint64_t *numbers, size_t count)
{
	return sort((uint8_t *)numbers, count, sizeof(*numbers));
}
