/*
 * formats/records/address_sample: the predicate, and the same predicate as a filter text for the
 * kernel.
 */
#include "formats/records/address_sample.h"

#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "tests/unit/unit.h"

#define HEAP 0x55d0c3a012a0ull

static uint64_t count(uint64_t first, uint64_t stride, uint64_t blocks, uint32_t one_in)
{
	uint64_t chosen = 0;

	for (uint64_t i = 0; i < blocks; i++)
		chosen += mt_address_is_sampled(first + i * stride, one_in);
	return chosen;
}

MT_TEST(one_in_one_is_every_block)
{
	MT_CHECK_EQ(count(HEAP, 32, 1000, 1), 1000);
	MT_CHECK(!mt_address_filter("ptr", 1));
}

MT_TEST(no_block_is_never_chosen)
{
	for (uint32_t n = 2; n <= MT_ONE_IN_MOST; n *= 2)
		MT_CHECK(!mt_address_is_sampled(0, n));
}

MT_TEST(sets_are_nested)
{
	for (uint64_t a = HEAP; a < HEAP + (1 << 22); a += 16) {
		for (uint32_t n = 2; n <= MT_ONE_IN_MOST; n *= 2) {
			if (mt_address_is_sampled(a, n))
				MT_CHECK(mt_address_is_sampled(a, n / 2));
		}
	}
}

/* A random choice of 1 in 64 of 4096 is within 0.75 and 1.25 in 95 % of the cases. */
MT_TEST(blocks_at_equal_distances_are_chosen_evenly)
{
	static const uint64_t strides[] = {32,	 48,   64,    112,   272,    528,    1040,
					   2048, 4096, 16400, 65536, 131072, 1048576};

	for (size_t i = 0; i < sizeof(strides) / sizeof(*strides); i++) {
		uint64_t chosen = count(HEAP, strides[i], 4096, 64);

		MT_CHECK(chosen >= 32 && chosen <= 112);
	}
}

MT_TEST(a_number_is_rounded_to_a_power_of_two)
{
	MT_CHECK_EQ(mt_one_in_round(0), 1);
	MT_CHECK_EQ(mt_one_in_round(1), 1);
	MT_CHECK_EQ(mt_one_in_round(2), 2);
	MT_CHECK_EQ(mt_one_in_round(3), 4);
	MT_CHECK_EQ(mt_one_in_round(47), 32);
	MT_CHECK_EQ(mt_one_in_round(48), 64);
	MT_CHECK_EQ(mt_one_in_round(1u << 30), MT_ONE_IN_MOST);
}

/*
 * ---- A small evaluator of the kernel's filter language: && binds more than ||, ! before a bracket
 * ----
 */

static bool any_of(const char **at, uint64_t value);

static bool one(const char **at, uint64_t value)
{
	bool invert = **at == '!', is;

	*at += invert;
	if (**at == '(') {
		++*at;
		is = any_of(at, value);
		MT_CHECK_EQ(**at, ')');
		++*at;
	} else {
		char *end;

		MT_CHECK(!invert && !strncmp(*at, "ptr&", 4));
		is = value & strtoull(*at + 4, &end, 10);
		*at = end;
	}
	return is != invert;
}

static bool all_of(const char **at, uint64_t value)
{
	bool is = one(at, value);

	while (!strncmp(*at, "&&", 2)) {
		*at += 2;
		is &= one(at, value);
	}
	return is;
}

static bool any_of(const char **at, uint64_t value)
{
	bool is = all_of(at, value);

	while (!strncmp(*at, "||", 2)) {
		*at += 2;
		is |= all_of(at, value);
	}
	return is;
}

MT_TEST(the_filter_says_the_same)
{
	for (uint32_t n = 2; n <= MT_ONE_IN_MOST; n *= 2) {
		MT_CLEANUP_FREE char *text = mt_address_filter("ptr", n);

		MT_REQUIRE(text);
		MT_CHECK(strlen(text) < 2048);
		for (uint64_t i = 0; i < 20000; i++) {
			uint64_t address = HEAP + i * 48 * (i % 7);
			const char *at = text;

			MT_CHECK_EQ(any_of(&at, address), mt_address_is_sampled(address, n));
			MT_CHECK(!*at);
		}
	}
}

MT_TEST_MAIN
