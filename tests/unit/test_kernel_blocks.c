/*
 * symbols/kernel_blocks: of a text in blocks, some are enough to choose the lines that would be
 * chosen of all.
 */
#include "symbols/kernel_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/kernel_lines.h"
#include "tests/unit/unit.h"

#define LINES 400
#define BLOCK 200
#define BLOCKS_MAX 400
#define ADDRESSES 12

static uint64_t numbers = 1;

static uint64_t number_below(uint64_t most)
{
	numbers = numbers * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (numbers >> 33) % most;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Lines in order but for some; some have no function, and some have one address. */
static size_t write_text(char *out, size_t room)
{
	size_t size = 0;

	for (int i = 0; i < LINES; i++) {
		uint64_t at = number_below(8) ? (uint64_t)i / 2 * 32 : number_below(LINES) * 16;

		size += (size_t)snprintf(out + size, room - size, "%016llx %c f%d%.*s\n",
					 0xffffffff81000000ull + at, number_below(9) ? 't' : 'd', i,
					 (int)number_below(30),
					 "_________________________________");
	}
	return size;
}

static size_t cut(const char *text, size_t size, struct mt_kernel_block *blocks)
{
	size_t count = 0;

	for (size_t at = 0; at < size; at += blocks[count++].size) {
		MT_CHECK(count < BLOCKS_MAX);
		blocks[count] = mt_kernel_block_of(text + at, size - at, BLOCK);
		MT_CHECK(blocks[count].size && blocks[count].size <= BLOCK);
		MT_CHECK(text[at + blocks[count].size - 1] == '\n');
	}
	return count;
}

static size_t keep_chosen(const char *text, const struct mt_kernel_block *blocks,
			  const bool *chosen, size_t count, char *out)
{
	size_t size = 0;

	for (size_t i = 0, at = 0; i < count; at += blocks[i++].size) {
		if (!chosen[i])
			continue;
		memcpy(out + size, text + at, blocks[i].size);
		size += blocks[i].size;
	}
	return size;
}

MT_TEST(chosen_blocks_give_the_same_lines)
{
	static char text[LINES * 80], some[LINES * 80];
	static struct mt_kernel_block blocks[BLOCKS_MAX];
	static bool chosen[BLOCKS_MAX];
	size_t left_out = 0;

	for (int round = 0; round < 200; round++) {
		uint64_t addresses[ADDRESSES];
		size_t size = write_text(text, sizeof(text)), count = cut(text, size, blocks), less;
		size_t wanted = 1 + number_below(ADDRESSES);

		for (size_t i = 0; i < wanted; i++)
			addresses[i] = 0xffffffff81000000 + number_below(LINES * 17);
		qsort(addresses, wanted, sizeof(*addresses), compare);
		MT_CHECK(mt_kernel_blocks_choose(blocks, count, addresses, wanted, chosen));
		less = keep_chosen(text, blocks, chosen, count, some);
		left_out += size - less;
		size = mt_kernel_lines_choose(text, size, addresses, wanted);
		less = mt_kernel_lines_choose(some, less, addresses, wanted);
		MT_CHECK_EQ(less, size);
		MT_CHECK(!memcmp(some, text, size));
	}
	MT_CHECK(left_out > 0);
}

MT_TEST(a_line_that_is_too_long_is_a_block)
{
	static const char text[] = "ffffffff81000010 t long_name\nffffffff81000000 t b\n";
	struct mt_kernel_block block = mt_kernel_block_of(text, strlen(text), 8);

	MT_CHECK_EQ(block.size, 29);
	MT_CHECK_EQ(block.first, 0xffffffff81000010);
	MT_CHECK_EQ(block.last, 0xffffffff81000010);
	block = mt_kernel_block_of(text, strlen(text), 4096);
	MT_CHECK_EQ(block.size, strlen(text));
	MT_CHECK_EQ(block.first, 0xffffffff81000000);
}

MT_TEST(blocks_without_functions_are_not_wanted)
{
	static const char text[] = "ffffffff81000010 d data\n";
	struct mt_kernel_block block = mt_kernel_block_of(text, strlen(text), 4096);
	uint64_t address = 0xffffffff81000010;
	bool chosen = true;

	MT_CHECK_EQ(block.last, 0);
	MT_CHECK(mt_kernel_blocks_choose(&block, 1, &address, 1, &chosen));
	MT_CHECK(!chosen);
}

MT_TEST_MAIN
