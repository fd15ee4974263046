/*
 * Samples a trace of addresses.c at each rate, and prints estimates for each path as --blocks does:
 *
 *	judge < trace
 *	path one-in  blocks seen low high (blocks)  truth value low high (bytes)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/records/address_sample.h"
#include "report/tables/estimate.h"

enum {
	PATHS = 4,
	ONE_IN_MOST = 64,
};

struct block {
	uint64_t address;
	uint32_t bytes, path;
};

static const struct block *read_trace(size_t *count)
{
	struct block *blocks = NULL;
	size_t room = 0;

	for (*count = 0;;) {
		if (*count == room) {
			room = room ? room * 2 : 4096;
			blocks = realloc(blocks, room * sizeof(*blocks));
			if (!blocks)
				exit(1);
		}
		if (fread(&blocks[*count], sizeof(*blocks), 1, stdin) != 1)
			return blocks;
		++*count;
	}
}

static void judge(const struct block *blocks, size_t count, uint32_t one_in, uint32_t path)
{
	struct mt_value bytes = mt_value_exact(0), number = mt_value_exact(0);
	double truth = 0;
	uint32_t seen = 0, all = 0;

	for (size_t i = 0; i < count; i++) {
		struct mt_value size = mt_value_sampled(blocks[i].bytes, one_in);
		struct mt_value one = mt_value_sampled(1, one_in);

		if (blocks[i].path != path)
			continue;
		truth += blocks[i].bytes;
		all++;
		if (!mt_address_is_sampled(blocks[i].address, one_in))
			continue;
		seen++;
		mt_value_add(&bytes, &size, false);
		mt_value_add(&number, &one, false);
	}
	printf("%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %.0f %.0f %.0f %.0f %.0f %.0f\n",
	       path, one_in, all, seen, number.low, number.high, truth, bytes.value, bytes.low,
	       bytes.high);
}

int main(void)
{
	size_t count;
	const struct block *blocks = read_trace(&count);

	for (uint32_t one_in = 2; one_in <= ONE_IN_MOST; one_in *= 2) {
		for (uint32_t path = 0; path < PATHS; path++)
			judge(blocks, count, one_in, path);
	}
	return 0;
}
