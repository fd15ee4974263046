/* Storage and lookup of the event table; its rows are in events.def. */
#include "formats/records/events.h"

#include <linux/perf_event.h>
#include <string.h>

#define MT_SOFTWARE(name, number, size_class, timed, what, text) \
	{.alias = (name),                                        \
	 .kind = MT_EVENT_SOFTWARE,                              \
	 .class = MT_CLASS_##size_class,                         \
	 .type = PERF_TYPE_SOFTWARE,                             \
	 .config = (number),                                     \
	 .by_time = (timed),                                     \
	 .unit = (what),                                         \
	 .help = (text)},
#define MT_HARDWARE(name, number, what, text) \
	{.alias = (name),                     \
	 .kind = MT_EVENT_HARDWARE,           \
	 .class = MT_CLASS_STORM,             \
	 .type = PERF_TYPE_HARDWARE,          \
	 .config = (number),                  \
	 .by_time = true,                     \
	 .unit = (what),                      \
	 .help = (text)},
#define MT_CACHE(name, cache, operation, result, text)                                     \
	{.alias = (name),                                                                  \
	 .kind = MT_EVENT_HARDWARE,                                                        \
	 .class = MT_CLASS_STORM,                                                          \
	 .type = PERF_TYPE_HW_CACHE,                                                       \
	 .config = PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 | \
		   PERF_COUNT_HW_CACHE_RESULT_##result << 16,                              \
	 .by_time = true,                                                                  \
	 .unit = PERF_COUNT_HW_CACHE_RESULT_##result == PERF_COUNT_HW_CACHE_RESULT_MISS    \
			 ? "misses"                                                        \
			 : "accesses",                                                     \
	 .help = (text)},
#define MT_SYSCALL(name, size_class, read_by, text) \
	{.alias = #name,                            \
	 .kind = MT_EVENT_SYSCALL,                  \
	 .class = MT_CLASS_##size_class,            \
	 .unit = "calls",                           \
	 .report = (read_by),                       \
	 .help = (text)},
#define MT_MARK(name, size_class, let_through, if_batched, lost) \
	{.alias = (name),                                        \
	 .kind = MT_EVENT_MARK,                                  \
	 .class = MT_CLASS_##size_class,                         \
	 .filter = (let_through),                                \
	 .batched = (if_batched),                                \
	 .unit = "events",                                       \
	 .help = (lost)},
#define MT_GROUP(name, size_class, read_by, text, words) \
	{.alias = (name),                                \
	 .kind = MT_EVENT_GROUP,                         \
	 .class = MT_CLASS_##size_class,                 \
	 .members = (words),                             \
	 .report = (read_by),                            \
	 .help = (text)},
#define MT_ALLOCATOR(name, text)     \
	{.alias = (name),            \
	 .kind = MT_EVENT_ALLOCATOR, \
	 .class = MT_CLASS_STORM,    \
	 .unit = "calls",            \
	 .report = "blocks",         \
	 .help = (text)},

static const struct mt_event_def defs[] = {
#include "formats/records/events.def"
};

const struct mt_event_def *mt_event_defs(size_t *count)
{
	*count = sizeof(defs) / sizeof(defs[0]);
	return defs;
}

#define NAMES 6

/* A row of a table of words; the longest word that matches up to a dash or the end wins. */
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

/*
 * Parses perf's names of hardware cache events: CACHE[-OPERATION][-RESULT], such as
 * L1-dcache-loads, l1d-read-miss, LLC-misses or bpu; operation and result in either order. Defaults
 * are read and access. Sets the config of a PERF_TYPE_HW_CACHE event; false for an unknown name, or
 * a combination that the cache does not count.
 */
static bool parse_cache_name(const char *name, size_t length, uint64_t *config)
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

/* The row of a cache event by another of its names. */
static const struct mt_event_def *find_cache(const char *name, size_t length)
{
	uint64_t config;

	if (!parse_cache_name(name, length, &config))
		return NULL;
	for (size_t i = 0; i < sizeof(defs) / sizeof(defs[0]); i++) {
		if (defs[i].type == PERF_TYPE_HW_CACHE && defs[i].config == config)
			return &defs[i];
	}
	return NULL;
}

const struct mt_event_def *mt_event_def_find(const char *alias, size_t length)
{
	for (size_t i = 0; i < sizeof(defs) / sizeof(defs[0]); i++) {
		if (strlen(defs[i].alias) == length && !memcmp(defs[i].alias, alias, length))
			return &defs[i];
	}
	return find_cache(alias, length);
}

const char *mt_event_report(const struct mt_event_def *def)
{
	bool faults = !strcmp(def->unit ? def->unit : "", "faults");

	return def->report		    ? def->report
	       : def->kind == MT_EVENT_MARK ? NULL
	       : faults			    ? "faults"
					    : "samples";
}

const char *mt_event_unit(const char *name, size_t length)
{
	const char *colon = memchr(name, ':', length);
	const struct mt_event_def *def =
		mt_event_def_find(name, colon ? (size_t)(colon - name) : length);

	return def && def->unit ? def->unit : "events";
}
