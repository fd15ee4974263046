/* Tables of words; the longest word that matches up to a dash or the end wins. */
#include "formats/cache_names.h"

#include <linux/perf_event.h>
#include <string.h>

#define NAMES 6

struct word {
	uint32_t value;
	uint32_t operations; /* of a cache: a bit for each operation that it counts */
	const char *names[NAMES];
};

#define READ (1u << PERF_COUNT_HW_CACHE_OP_READ)
#define WRITE (1u << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH (1u << PERF_COUNT_HW_CACHE_OP_PREFETCH)

static const struct word caches[] = {
	{PERF_COUNT_HW_CACHE_L1D, READ | WRITE | PREFETCH, {"L1-dcache", "l1-d", "l1d", "L1-data"}},
	{PERF_COUNT_HW_CACHE_L1I, READ | PREFETCH, {"L1-icache", "l1-i", "l1i", "L1-instruction"}},
	{PERF_COUNT_HW_CACHE_LL, READ | WRITE | PREFETCH, {"LLC", "L2"}},
	{PERF_COUNT_HW_CACHE_DTLB, READ | WRITE | PREFETCH, {"dTLB", "d-tlb", "Data-TLB"}},
	{PERF_COUNT_HW_CACHE_ITLB, READ, {"iTLB", "i-tlb", "Instruction-TLB"}},
	{PERF_COUNT_HW_CACHE_BPU, READ, {"branch", "branches", "bpu", "btb", "bpc"}},
	{PERF_COUNT_HW_CACHE_NODE, READ | WRITE | PREFETCH, {"node"}},
	{0},
};

static const struct word operations[] = {
	{PERF_COUNT_HW_CACHE_OP_READ, 0, {"load", "loads", "read"}},
	{PERF_COUNT_HW_CACHE_OP_WRITE, 0, {"store", "stores", "write"}},
	{PERF_COUNT_HW_CACHE_OP_PREFETCH,
	 0,
	 {"prefetch", "prefetches", "speculative-read", "speculative-load"}},
	{0},
};

static const struct word results[] = {
	{PERF_COUNT_HW_CACHE_RESULT_ACCESS, 0, {"refs", "Reference", "ops", "access"}},
	{PERF_COUNT_HW_CACHE_RESULT_MISS, 0, {"misses", "miss"}},
	{0},
};

/* The word that the name begins with, *size bytes of it; NULL: none. */
static const struct word *find_word(const struct word *words, const char *name, size_t length,
				    size_t *size)
{
	const struct word *found = NULL;

	*size = 0;
	for (; *words->names; words++) {
		for (size_t i = 0; i < NAMES && words->names[i]; i++) {
			size_t n = strlen(words->names[i]);

			if (n <= *size || n > length || memcmp(name, words->names[i], n) ||
			    (n < length && name[n] != '-'))
				continue;
			*size = n;
			found = words;
		}
	}
	return found;
}

bool mt_cache_name_parse(const char *name, size_t length, uint64_t *config)
{
	const struct word *operation = NULL, *result = NULL, *cache;
	size_t at, n;

	cache = find_word(caches, name, length, &at);
	if (!cache)
		return false;
	for (; at < length; at += n) {
		const char *rest = name + ++at;
		const struct word **slot = &operation;
		const struct word *found = find_word(operations, rest, length - at, &n);

		if (!found) {
			slot = &result;
			found = find_word(results, rest, length - at, &n);
		}
		if (!found || *slot)
			return false;
		*slot = found;
	}
	operation = operation ? operation : &operations[0];
	result = result ? result : &results[0];
	*config = cache->value | operation->value << 8 | result->value << 16;
	return cache->operations & 1u << operation->value;
}
