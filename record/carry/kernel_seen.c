/* Keeps the addresses in a set, with a cache in front of the set. */
#include "record/carry/kernel_seen.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "symbols/tables/address_sort.h"

#define CACHE_BITS 10
#define SEEN_MAX 262144
#define CODE_END (UINT64_MAX - 4095) /* values from here on are markers of callchains */
#ifdef __x86_64__
#define CODE_START UINT64_C(0xffffffff80000000)
#else
#define CODE_START UINT64_C(0xffff000000000000)
#endif

struct mt_kernel_seen {
	uint64_t cache[1 << CACHE_BITS];
	struct mt_map64 set;
	MT_ARRAY(uint64_t) list;
	size_t taken;
	bool overflowed;
};

struct mt_kernel_seen *mt_kernel_seen_create(void)
{
	return calloc(1, sizeof(struct mt_kernel_seen));
}

void mt_kernel_seen_destroy(struct mt_kernel_seen *seen)
{
	if (!seen)
		return;
	mt_map64_deinit(&seen->set);
	mt_array_deinit(&seen->list);
	free(seen);
}

static void add(struct mt_kernel_seen *seen, uint64_t address)
{
	uint64_t *cached = &seen->cache[mt_hash64(address) >> (64 - CACHE_BITS)], known;

	if (*cached == address)
		return;
	*cached = address;
	if (mt_map64_get(&seen->set, address, &known))
		return;
	seen->overflowed |= seen->list.count >= SEEN_MAX || !mt_map64_put(&seen->set, address, 1) ||
			    !mt_array_append(&seen->list, address);
}

void mt_kernel_seen_add(struct mt_kernel_seen *seen, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t word = mt_get_le64(bytes + at);

		if (word >= CODE_START && word < CODE_END)
			add(seen, word);
	}
}

bool mt_kernel_seen_has_news(const struct mt_kernel_seen *seen)
{
	size_t news = seen->list.count - seen->taken;

	return news && news >= seen->list.count / 32;
}

uint64_t *mt_kernel_seen_take(struct mt_kernel_seen *seen, size_t *count, bool *all)
{
	size_t news = seen->list.count - seen->taken;
	MT_CLEANUP_FREE uint64_t *addresses = news ? malloc(news * sizeof(*addresses)) : NULL;

	*count = 0;
	*all = seen->overflowed;
	if (!addresses)
		return NULL;
	memcpy(addresses, seen->list.items + seen->taken, news * sizeof(*addresses));
	if (!mt_number_sort(addresses, news))
		return NULL;
	*count = news;
	seen->taken = seen->list.count;
	return MT_TAKE(addresses);
}
