/* unwind/return_slots, dump: return addresses that return probes have replaced. */
#include "unwind/return_slots.h"

#include "tests/unit/unit.h"
#include "unwind/cfi/dump.h"

#define TRAMPOLINE 0x7ffff7fc1000ull

static void enter(struct mt_return_slots *slots, int32_t tid, uint64_t slot, uint64_t address)
{
	mt_return_slots_enter(slots, tid, &(struct mt_return_slot){slot, address});
}

/* A word of a dump at 0x1000, given the thread's entered functions. */
static uint64_t word_at(const struct mt_return_slots *slots, int32_t tid, uint64_t address)
{
	static const uint64_t words[] = {TRAMPOLINE, 0x401234, TRAMPOLINE, 0};
	struct mt_dump dump = {.bytes = (const uint8_t *)words, .start = 0x1000, .size = 32};
	uint64_t value = 1;

	dump.returns = mt_return_slots_get(slots, tid, &dump.return_count);
	MT_CHECK(mt_dump_read(&dump, address, &value));
	return value;
}

MT_TEST(a_replaced_return_address_is_read_as_it_was)
{
	struct mt_return_slots *slots = mt_return_slots_create();

	MT_REQUIRE(slots);
	enter(slots, 7, 0x1010, 0x402222);
	enter(slots, 7, 0x1000, 0x403333);
	MT_CHECK_EQ(word_at(slots, 7, 0x1000), 0x403333);
	MT_CHECK_EQ(word_at(slots, 7, 0x1008), 0x401234);
	MT_CHECK_EQ(word_at(slots, 7, 0x1010), 0x402222);
	MT_CHECK_EQ(word_at(slots, 8, 0x1010), TRAMPOLINE);
	enter(slots, 7, 0x1008, 0x404444); /* the function with its slot at 0x1000 has returned */
	MT_CHECK_EQ(word_at(slots, 7, 0x1000), TRAMPOLINE);
	MT_CHECK_EQ(word_at(slots, 7, 0x1008), 0x401234);
	MT_CHECK_EQ(word_at(slots, 7, 0x1010), 0x402222);
	mt_return_slots_clear(slots);
	MT_CHECK_EQ(word_at(slots, 7, 0x1010), TRAMPOLINE);
	mt_return_slots_destroy(slots);
}

MT_TEST(a_jump_between_probed_functions_keeps_the_first_address)
{
	struct mt_return_slots *slots = mt_return_slots_create();

	MT_REQUIRE(slots);
	enter(slots, 7, 0x1000, 0x402222);
	enter(slots, 7, 0x1000, TRAMPOLINE);
	MT_CHECK_EQ(word_at(slots, 7, 0x1000), 0x402222);
	enter(slots, 7, 0x1000, 0x405555);
	MT_CHECK_EQ(word_at(slots, 7, 0x1000), 0x405555);
	mt_return_slots_destroy(slots);
}

MT_TEST(the_innermost_slots_are_kept)
{
	struct mt_return_slots *slots = mt_return_slots_create();
	const struct mt_return_slot *found;
	size_t count;

	MT_REQUIRE(slots);
	for (uint64_t i = 0; i < MT_RETURN_SLOTS + 5; i++)
		enter(slots, 1, 0x9000 - 8 * i, 0x400001 + i);
	found = mt_return_slots_get(slots, 1, &count);
	MT_REQUIRE(MT_CHECK_EQ(count, MT_RETURN_SLOTS));
	MT_CHECK_EQ(found[0].address, 0x400001 + 5);
	MT_CHECK_EQ(found[count - 1].address, 0x400001 + MT_RETURN_SLOTS + 4);
	mt_return_slots_destroy(slots);
}

MT_TEST_MAIN
