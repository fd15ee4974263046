/* Storage and lookup of the event table; its rows are in events.def. */
#include "formats/events.h"

#include <linux/perf_event.h>
#include <string.h>

#include "formats/cache_names.h"

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
#include "formats/events.def"
};

const struct mt_event_def *mt_event_defs(size_t *count)
{
	*count = sizeof(defs) / sizeof(defs[0]);
	return defs;
}

/* The row of a cache event by another of its names. */
static const struct mt_event_def *find_cache(const char *name, size_t length)
{
	uint64_t config;

	if (!mt_cache_name_parse(name, length, &config))
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
