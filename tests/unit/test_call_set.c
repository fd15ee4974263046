/* symbols/call_set: calls of a made file are found again, others are not; damaged sets do no harm.
 */
#include "symbols/call_set.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "symbols/seen_code.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"

#define TEXT 0x1000u
#define HDR 0x9000u
#define FUNCTIONS 64u
#define EACH 32u /* bytes of a function */

static uint64_t function(unsigned int i)
{
	return TEXT + (uint64_t)i * EACH;
}

/* Function i calls i * 7 + 3 and i * 5 + 1. */
static unsigned int callee(unsigned int i, unsigned int which)
{
	return (which ? i * 5 + 1 : i * 7 + 3) % FUNCTIONS;
}

static void put_call(uint8_t *text, unsigned int from, unsigned int at, uint64_t target)
{
	uint64_t site = from * EACH + at;

	text[site] = 0xe8;
	mt_put_le32(text + site + 1, (uint32_t)(target - (TEXT + site + 5)));
}

/* A file with these functions; the caller destroys it before the builder goes. */
static struct mt_elf *make(struct elf_builder *b)
{
	static uint8_t text[FUNCTIONS * EACH], hdr[12 + 8 * FUNCTIONS];
	struct mt_elf *elf = NULL;
	Elf64_Shdr *section;

	memset(text, 0x90, sizeof(text));
	memcpy(hdr, (uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
	mt_put_le32(hdr + 8, FUNCTIONS);
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		put_call(text, i, 4, function(callee(i, 0)));
		put_call(text, i, 12, function(callee(i, 1)));
		put_call(text, i, 20, function(callee(i, 1)) + 1); /* into its midst */
		mt_put_le32(hdr + 12 + 8 * i, (uint32_t)(function(i) - HDR));
	}
	builder_init(b, ET_DYN);
	section = builder_add_section(b, ".text", SHT_PROGBITS, TEXT, text, sizeof(text));
	builder_add_segment(b, PT_LOAD, PF_R | PF_X, section->sh_offset, TEXT, sizeof(text));
	builder_add_section(b, ".eh_frame_hdr", SHT_PROGBITS, HDR, hdr, sizeof(hdr));
	builder_finish(b);
	MT_CHECK(!mt_elf_open_memory(b->bytes, b->size, "made", &elf));
	return elf;
}

static struct elf_builder builder;

MT_TEST(what_calls_what)
{
	struct mt_elf *elf = make(&builder);
	struct mt_call_set set;
	unsigned int wrong = 0;
	uint8_t *bytes;
	size_t size;

	MT_CHECK(mt_call_set_make(elf, NULL, NULL, &bytes, &size));
	MT_CHECK(size && size < FUNCTIONS * 2 * 2);
	MT_CHECK(mt_call_set_read((struct mt_span){.bytes = bytes, .size = size}, &set));
	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		for (unsigned int k = 0; k < FUNCTIONS; k++) {
			bool has = mt_call_set_has(&set, function(i), function(k));

			if (k == callee(i, 0) || k == callee(i, 1))
				MT_CHECK(has);
			else
				wrong += has;
		}
	}
	MT_CHECK(wrong < FUNCTIONS * FUNCTIONS / 256);
	mt_call_set_deinit(&set);
	free(bytes);
	mt_elf_destroy(elf);
}

/* The pairs of a list that are direct calls and in a set, each a bit of its number in it. */
static unsigned int pairs_in(const struct mt_seen_calls *seen, const unsigned int (*pairs)[2],
			     size_t count, size_t *numbers)
{
	struct mt_elf *elf = make(&builder);
	struct mt_call_set set;
	unsigned int has = 0;
	uint8_t *bytes;
	size_t size;

	MT_CHECK(mt_call_set_make(elf, NULL, seen, &bytes, &size));
	MT_CHECK(mt_call_set_read((struct mt_span){.bytes = bytes, .size = size}, &set));
	for (size_t i = 0; i < count; i++)
		has |= (unsigned int)mt_call_set_has(&set, function(pairs[i][0]),
						     function(pairs[i][1]))
		       << i;
	*numbers = set.count ? set.sets[0].count : 0;
	mt_call_set_deinit(&set);
	free(bytes);
	mt_elf_destroy(elf);
	return has;
}

/*
 * 3 calls 24 and 16; 24 calls 43 and 57; 40 calls 27 and 9. Seen by their ends, by all of their
 * bytes, and a place behind all code.
 */
MT_TEST(what_calls_what_of_seen_code)
{
	static const unsigned int pairs[][2] = {{3, 24}, {3, 16}, {24, 43}, {40, 27}};
	static const uint64_t units[] = {TEXT + 3 * EACH + 16, TEXT + 24 * EACH, TEXT + 27 * EACH,
					 TEXT + 27 * EACH + 16, TEXT + FUNCTIONS * EACH + 64};
	const struct mt_seen_code seen = {units, sizeof(units) / sizeof(*units)};
	size_t numbers;

	MT_CHECK_EQ(pairs_in(&(struct mt_seen_calls){.now = &seen}, pairs, 4, &numbers), 1);
	MT_CHECK_EQ(numbers, 1);
	MT_CHECK_EQ(pairs_in(&(struct mt_seen_calls){.now = &(struct mt_seen_code){0}}, pairs, 4,
			     &numbers),
		    0);
	MT_CHECK_EQ(numbers, 0);
}

/* Callers and callees that were seen at different times; 43 calls 24. */
MT_TEST(what_calls_what_of_code_seen_later)
{
	static const unsigned int pairs[][2] = {{3, 24}, {3, 16}, {24, 43}, {40, 27}, {43, 24}};
	static const uint64_t earlier[] = {TEXT + 3 * EACH, TEXT + 24 * EACH, TEXT + 27 * EACH};
	static const uint64_t later[] = {TEXT + 3 * EACH + 16, TEXT + 16 * EACH, TEXT + 40 * EACH,
					 TEXT + 43 * EACH};
	const struct mt_seen_code before = {earlier, 3}, now = {later, 4};
	size_t numbers;

	MT_CHECK_EQ(pairs_in(&(struct mt_seen_calls){&now, &before}, pairs, 5, &numbers), 0x1e);
	MT_CHECK_EQ(numbers, 4);
}

MT_TEST(code_says_what_calls_what)
{
	struct mt_elf *elf = make(&builder);

	for (unsigned int i = 0; i < FUNCTIONS; i++) {
		for (unsigned int k = 0; k < FUNCTIONS; k++) {
			bool calls = k == callee(i, 0) || k == callee(i, 1);

			MT_CHECK_EQ(mt_call_in_code(elf, function(i), EACH, function(k)), calls);
		}
		/* no more of it than the first call, or of that its first byte */
		MT_CHECK(mt_call_in_code(elf, function(i), 9, function(callee(i, 0))));
		MT_CHECK(!mt_call_in_code(elf, function(i), 8, function(callee(i, 0))));
	}
	MT_CHECK(!mt_call_in_code(elf, TEXT - EACH, EACH, TEXT));
	MT_CHECK(!mt_call_in_code(elf, TEXT, UINT64_MAX, TEXT));
	mt_elf_destroy(elf);
}

MT_TEST(several_sets_stand_behind_one_another)
{
	uint8_t *bytes, *both;
	size_t size, second;
	struct mt_elf *elf = make(&builder);
	struct mt_call_set set;

	MT_CHECK(mt_call_set_make(elf, NULL, NULL, &bytes, &size));
	second = (size + 7) / 8 * 8;
	both = calloc(3, second);
	MT_REQUIRE(both);
	mt_put_le32(both, 1); /* a set of the pair whose number is 0 */
	mt_put_le32(both + 4, 10);
	memcpy(both + 16, bytes, size);
	MT_CHECK(mt_call_set_read((struct mt_span){.bytes = both, .size = 16 + size}, &set));
	MT_CHECK_EQ(set.count, 2);
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		MT_CHECK(mt_call_set_has(&set, function(i), function(callee(i, 0))));
	mt_call_set_deinit(&set);
	memset(both + 16, 0, second); /* zeros are no set */
	MT_CHECK(mt_call_set_read((struct mt_span){.bytes = both, .size = 16 + size}, &set));
	MT_CHECK_EQ(set.count, 1);
	mt_call_set_deinit(&set);
	free(both);
	free(bytes);
	mt_elf_destroy(elf);
}

MT_TEST(damaged_sets_do_no_harm)
{
	struct mt_elf *elf = make(&builder);
	struct mt_call_set set;
	uint8_t *bytes;
	size_t size;

	MT_CHECK(mt_call_set_make(elf, NULL, NULL, &bytes, &size));
	for (size_t at = 0; at < size; at++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			bytes[at] ^= (uint8_t)(1u << bit);
			MT_CHECK(mt_call_set_read((struct mt_span){.bytes = bytes, .size = size},
						  &set));
			(void)mt_call_set_has(&set, function(1), function(2));
			mt_call_set_deinit(&set);
			bytes[at] ^= (uint8_t)(1u << bit);
		}
	}
	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *exact = malloc(cut + 1);

		memcpy(exact, bytes, cut);
		MT_CHECK(mt_call_set_read((struct mt_span){.bytes = exact, .size = cut}, &set));
		mt_call_set_deinit(&set);
		free(exact);
	}
	free(bytes);
	mt_elf_destroy(elf);
}

MT_TEST(nothing_to_go_by)
{
	struct mt_call_set none = {0};
	struct mt_elf *elf = NULL;
	uint8_t *bytes;
	size_t size;

	builder_init(&builder, ET_DYN);
	builder_finish(&builder);
	MT_CHECK(!mt_elf_open_memory(builder.bytes, builder.size, "bare", &elf));
	MT_CHECK(mt_call_set_make(elf, NULL, NULL, &bytes, &size));
	MT_CHECK(!bytes && !size);
	MT_CHECK(!mt_call_set_has(&none, function(1), function(2)));
	mt_elf_destroy(elf);
}

MT_TEST_MAIN
