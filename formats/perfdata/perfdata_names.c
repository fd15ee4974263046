/*
 * perf's name of an event, derived from its type and config, for files that lack the names that the
 * user typed (piped data, and recordings that were killed).
 */
#include <inttypes.h>
#include <stdio.h>

#include "formats/perfdata/perfdata.h"

enum type { /* PERF_TYPE_* */
	TYPE_HARDWARE = 0,
	TYPE_SOFTWARE = 1,
	TYPE_TRACEPOINT = 2,
	TYPE_CACHE = 3,
	TYPE_RAW = 4,
	TYPE_BREAKPOINT = 5,
};

enum exclude { /* bits of attr.flags */
	EXCLUDE_USER = 4,
	EXCLUDE_KERNEL = 5,
	EXCLUDE_HV = 6,
	PRECISE = 15, /* the first of two bits */
	EXCLUDE_HOST = 19,
	EXCLUDE_GUEST = 20,
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static const char *const caches[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

/* For each operation: the name of its accesses, and of its misses. */
static const char *const cache_results[][2] = {
	{"loads", "load-misses"},
	{"stores", "store-misses"},
	{"prefetches", "prefetch-misses"},
};

static const char *named(const char *const *names, size_t count, uint64_t config)
{
	return config < count ? names[config] : NULL;
}

static void cache_name(uint64_t config, char *out, size_t size)
{
	const char *cache = named(caches, COUNT(caches), config & 0xff);
	uint64_t operation = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (!cache || operation >= COUNT(cache_results) || result > 1)
		snprintf(out, size, "unknown-ext-hardware-cache-type");
	else
		snprintf(out, size, "%s-%s", cache, cache_results[operation][result]);
}

static const char *find_number(const struct mt_perf_number *numbers, size_t count, uint64_t number)
{
	for (size_t i = 0; i < count; i++) {
		if (numbers[i].number == number)
			return numbers[i].name;
	}
	return NULL;
}

static void tracepoint_name(const struct mt_perf_facts *facts, uint64_t id, char *out, size_t size)
{
	const char *name = find_number(facts->types.items, facts->types.count, id);

	for (size_t i = 0; i < facts->formats.count; i++) {
		if (facts->formats.items[i].id == id)
			name = facts->formats.items[i].name;
	}
	if (name)
		snprintf(out, size, "%s", name);
	else
		snprintf(out, size, "tracepoint-%" PRIu64, id);
}

static void pmu_name(const struct mt_perf_facts *facts, const struct mt_attr *attr, char *out,
		     size_t size)
{
	const char *pmu = find_number(facts->pmus.items, facts->pmus.count, attr->type);

	if (pmu)
		snprintf(out, size, "%s/config=0x%" PRIx64 "/", pmu, attr->config);
	else
		snprintf(out, size, "type-%u/config=0x%" PRIx64 "/", attr->type, attr->config);
}

/* The upper half of config is the PMU for generic events of a hybrid machine. */
static void hardware_name(const struct mt_perf_facts *facts, uint64_t config, char *out,
			  size_t size)
{
	const char *pmu = find_number(facts->pmus.items, facts->pmus.count, config >> 32);
	const char *name = named(hardware, COUNT(hardware), config & UINT32_MAX);

	name = name ? name : "unknown-hardware";
	if (config >> 32 && pmu)
		snprintf(out, size, "%s/%s/", pmu, name);
	else
		snprintf(out, size, "%s", name);
}

static bool bit(const struct mt_attr *attr, unsigned int number)
{
	return attr->flags >> number & 1;
}

/* ":u", ":ppp", ":HG" as perf derives them. */
static void modifiers(const struct mt_attr *attr, char out[16])
{
	bool some = bit(attr, EXCLUDE_USER) || bit(attr, EXCLUDE_KERNEL) || bit(attr, EXCLUDE_HV);
	unsigned int precise = attr->flags >> PRECISE & 3;
	char *to = out;

	*to++ = ':';
	if (some && !bit(attr, EXCLUDE_KERNEL))
		*to++ = 'k';
	if (some && !bit(attr, EXCLUDE_USER))
		*to++ = 'u';
	if (some && !bit(attr, EXCLUDE_HV))
		*to++ = 'h';
	for (unsigned int i = 0; i < precise; i++)
		*to++ = 'p';
	if (bit(attr, EXCLUDE_HOST) || bit(attr, EXCLUDE_GUEST) == (some || precise)) {
		if (!bit(attr, EXCLUDE_HOST))
			*to++ = 'H';
		if (!bit(attr, EXCLUDE_GUEST))
			*to++ = 'G';
	}
	*to = '\0';
	if (to == out + 1)
		*out = '\0';
}

static void software_name(uint64_t config, char *out, size_t size)
{
	const char *name = named(software, COUNT(software), config);

	snprintf(out, size, "%s", name ? name : "unknown-software");
}

void mt_perf_event_name(const struct mt_perf_facts *facts, const struct mt_perf_event *event,
			char *out, size_t size)
{
	const struct mt_attr *attr = &event->attr;
	char base[256], suffix[16] = "";

	if (event->name) {
		snprintf(out, size, "%s", event->name);
		return;
	}
	if (attr->type != TYPE_TRACEPOINT)
		modifiers(attr, suffix);
	if (attr->type == TYPE_HARDWARE)
		hardware_name(facts, attr->config, base, sizeof(base));
	else if (attr->type == TYPE_SOFTWARE)
		software_name(attr->config, base, sizeof(base));
	else if (attr->type == TYPE_TRACEPOINT)
		tracepoint_name(facts, attr->config, base, sizeof(base));
	else if (attr->type == TYPE_CACHE)
		cache_name(attr->config, base, sizeof(base));
	else if (attr->type == TYPE_RAW)
		snprintf(base, sizeof(base), "raw 0x%" PRIx64, attr->config);
	else if (attr->type == TYPE_BREAKPOINT)
		snprintf(base, sizeof(base), "mem:0x%" PRIx64, attr->config1);
	else
		pmu_name(facts, attr, base, sizeof(base));
	snprintf(out, size, "%s%s", base, suffix);
}
