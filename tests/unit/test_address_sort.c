/* symbols/tables/address_sort.h against qsort. */
#include "symbols/tables/address_sort.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

enum {
	COUNT = 5000,
};

static int compare(const void *a, const void *b)
{
	const struct mt_addressed *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static size_t disagree(uint64_t mask, size_t count)
{
	static struct mt_addressed ours[COUNT], theirs[COUNT];
	static uint64_t numbers[COUNT];
	uint64_t random = 88172645463325252u;
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		ours[i] = theirs[i] = (struct mt_addressed){random & mask, (uint32_t)i};
	}
	for (size_t i = 0; i < count; i++)
		numbers[i] = ours[i].address;
	MT_CHECK(mt_address_sort(ours, count) && mt_number_sort(numbers, count));
	if (count)
		qsort(theirs, count, sizeof(*theirs), compare);
	for (size_t i = 0; i < count; i++)
		wrong += ours[i].address != theirs[i].address || ours[i].index != theirs[i].index ||
			 numbers[i] != theirs[i].address;
	return wrong;
}

MT_TEST(addresses_come_in_order_and_equal_ones_stay)
{
	MT_CHECK_EQ(disagree(UINT64_MAX, COUNT), 0);
	MT_CHECK_EQ(disagree(0xffffffff, COUNT), 0);
	MT_CHECK_EQ(disagree(0xff, COUNT), 0);
	MT_CHECK_EQ(disagree(0xff00000000000000, COUNT), 0);
	MT_CHECK_EQ(disagree(0, COUNT), 0);
	MT_CHECK_EQ(disagree(UINT64_MAX, 1), 0);
	MT_CHECK_EQ(disagree(UINT64_MAX, 0), 0);
}

MT_TEST_MAIN
