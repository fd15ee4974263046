/*
 * unwind/cfi/rule and unwind/cache: the rows that fit into 8 bytes, their rules, and the cache of
 * rules.
 */
#include "unwind/cfi/rule.h"

#include <stdlib.h>

#include "tests/unit/cfi_builder.h"
#include "tests/unit/unit.h"
#include "unwind/cache.h"
#include "unwind/cfi/cfi.h"

static struct mt_cfi_row plain_row(unsigned int reg, int64_t offset)
{
	struct mt_cfi_row row = {0};

	row.cfa = (struct mt_cfi_rule){
		.kind = MT_CFI_REGISTER, .reg = (uint16_t)reg, .offset = offset};
	row.reg[MT_DWARF_RIP] = (struct mt_cfi_rule){.kind = MT_CFI_OFFSET, .offset = -8};
	return row;
}

static struct mt_cfi_rule expression(enum mt_cfi_rule_kind kind, const uint8_t *bytes, size_t size)
{
	return (struct mt_cfi_rule){
		.kind = (uint8_t)kind, .expression_size = (uint32_t)size, .expression = bytes};
}

MT_TEST(stack_and_frame_pointer_rows_are_compact)
{
	struct mt_cfi_row row = plain_row(MT_DWARF_RSP, 48);
	struct mt_rule rule = mt_rule_from_row(&row, 0);

	MT_CHECK_EQ(rule.kind, MT_RULE_SP);
	MT_CHECK_EQ(rule.offset, 48);
	MT_CHECK_EQ(rule.fp, MT_RULE_FP_SAME);
	row = plain_row(MT_DWARF_RBP, 16);
	row.reg[MT_DWARF_RBP] = (struct mt_cfi_rule){.kind = MT_CFI_OFFSET, .offset = -16};
	rule = mt_rule_from_row(&row, 0);
	MT_CHECK_EQ(rule.kind, MT_RULE_FP);
	MT_CHECK_EQ(rule.fp, MT_RULE_FP_AT_CFA);
	MT_CHECK_EQ(rule.fp_slot, -2);
}

MT_TEST(an_undefined_return_address_is_the_end)
{
	struct mt_cfi_row row = plain_row(MT_DWARF_RSP, 8);

	row.reg[MT_DWARF_RIP].kind = MT_CFI_UNDEFINED;
	MT_CHECK_EQ(mt_rule_from_row(&row, 0).kind, MT_RULE_END);
}

/* rsp + 8 + ((rip & 15) >= 11) * 8 */
MT_TEST(a_plt_s_rule_depends_on_where_in_its_entry)
{
	struct mt_cfi_row row = plain_row(MT_DWARF_RSP, 8);
	struct mt_rule rule;

	row.cfa = expression(MT_CFI_VAL_EXPRESSION,
			     BYTES(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	rule = mt_rule_from_row(&row, 0x401026);
	MT_CHECK_EQ(rule.kind, MT_RULE_SP);
	MT_CHECK_EQ(rule.offset, 8);
	rule = mt_rule_from_row(&row, 0x40102b);
	MT_CHECK_EQ(rule.kind, MT_RULE_SP);
	MT_CHECK_EQ(rule.offset, 16);
}

MT_TEST(a_realigned_frame_is_a_dereference)
{
	struct mt_cfi_row row = plain_row(MT_DWARF_RSP, 8);
	struct mt_rule rule;

	row.cfa = expression(MT_CFI_VAL_EXPRESSION, BYTES(0x76, 0x78, 0x06));
	row.reg[MT_DWARF_RBP] = expression(MT_CFI_EXPRESSION, BYTES(0x76, 0));
	rule = mt_rule_from_row(&row, 0);
	MT_CHECK_EQ(rule.kind, MT_RULE_FP_DEREF);
	MT_CHECK_EQ(rule.offset, -8);
	MT_CHECK_EQ(rule.fp, MT_RULE_FP_AT_FP);
	MT_CHECK_EQ(rule.fp_slot, 0);
}

MT_TEST(what_does_not_fit_is_slow)
{
	struct mt_cfi_row row = plain_row(MT_DWARF_RBX, 16);

	MT_CHECK_EQ(mt_rule_from_row(&row, 0).kind, MT_RULE_SLOW);
	row = plain_row(MT_DWARF_RSP, (int64_t)1 << 40);
	MT_CHECK_EQ(mt_rule_from_row(&row, 0).kind, MT_RULE_SLOW);
	row = plain_row(MT_DWARF_RSP, 8);
	row.reg[MT_DWARF_RIP].offset = -16;
	MT_CHECK_EQ(mt_rule_from_row(&row, 0).kind, MT_RULE_SLOW);
	row = plain_row(MT_DWARF_RSP, 8);
	row.reg[MT_DWARF_RBP] = (struct mt_cfi_rule){.kind = MT_CFI_OFFSET, .offset = -12};
	MT_CHECK_EQ(mt_rule_from_row(&row, 0).kind, MT_RULE_SLOW);
	row.reg[MT_DWARF_RBP] = (struct mt_cfi_rule){.kind = MT_CFI_REGISTER, .reg = 9};
	MT_CHECK_EQ(mt_rule_from_row(&row, 0).kind, MT_RULE_SLOW);
	row = plain_row(MT_DWARF_RSP, 8);
	row.reg[MT_DWARF_RSP] = (struct mt_cfi_rule){.kind = MT_CFI_REGISTER, .reg = 8};
	MT_CHECK_EQ(mt_rule_from_row(&row, 0).kind, MT_RULE_SLOW);
	row = plain_row(MT_DWARF_RSP, 8);
	row.cfa = expression(MT_CFI_VAL_EXPRESSION, BYTES(0x77, 8, 0x06));
	MT_CHECK_EQ(mt_rule_from_row(&row, 0).kind, MT_RULE_SLOW);
}

static struct mt_rule numbered(int32_t n)
{
	return (struct mt_rule){.kind = MT_RULE_SP, .offset = n};
}

static bool cached(struct mt_cache_entry *cache, uint64_t pc, uint32_t generation, int32_t want)
{
	uint64_t tag = mt_cache_tag(pc, generation);
	struct mt_cache_entry *entry = mt_cache_entry(cache, pc, tag);

	if (entry->tag != tag && !mt_cache_recall(cache, entry, tag))
		return false;
	return entry->rule.offset == want;
}

static void keep(struct mt_cache_entry *cache, uint64_t pc, uint32_t generation, int32_t n)
{
	uint64_t tag = mt_cache_tag(pc, generation);
	struct mt_cache_entry *entry = mt_cache_entry(cache, pc, tag);

	mt_cache_move(cache, entry);
	*entry = (struct mt_cache_entry){.tag = tag, .rule = numbered(n)};
}

/* A pc in another 64 KiB, of the same generation, that uses the same slot. */
static uint64_t rival(struct mt_cache_entry *cache, uint64_t pc, uint64_t beyond)
{
	const struct mt_cache_entry *slot = mt_cache_entry(cache, pc, mt_cache_tag(pc, 1));

	for (uint64_t other = beyond;; other++) {
		if (mt_cache_entry(cache, other, mt_cache_tag(other, 1)) == slot)
			return other;
	}
}

MT_TEST(a_second_rule_in_a_slot_does_not_lose_the_first)
{
	struct mt_cache_entry *cache = calloc(MT_CACHE_ENTRIES, sizeof(*cache));
	uint64_t pc = 0x7f1234567891, second = rival(cache, pc, 0x7f0000000000);
	uint64_t third = rival(cache, pc, 0x7e0000000000);

	keep(cache, pc, 1, 1);
	keep(cache, second, 1, 2);
	for (int i = 0; i < 3; i++) {
		MT_CHECK(cached(cache, pc, 1, 1));
		MT_CHECK(cached(cache, second, 1, 2));
	}
	keep(cache, third, 1, 3);
	MT_CHECK(cached(cache, second, 1, 2));
	MT_CHECK(cached(cache, third, 1, 3));
	MT_CHECK(!cached(cache, pc, 1, 1));
	free(cache);
}

MT_TEST(only_the_very_pc_and_generation_hit)
{
	struct mt_cache_entry *cache = calloc(MT_CACHE_ENTRIES, sizeof(*cache));
	uint64_t pc = 0x555555554a31;

	keep(cache, pc, 7, 1);
	MT_CHECK(cached(cache, pc, 7, 1));
	MT_CHECK(!cached(cache, pc, 8, 1));
	MT_CHECK(!cached(cache, pc ^ 1, 7, 1));
	for (unsigned int bit = 0; bit < 47; bit++)
		MT_CHECK(!cached(cache, pc ^ (uint64_t)1 << bit, 7, 1));
	free(cache);
}

MT_TEST_MAIN
