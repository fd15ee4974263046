/*
 * Rules on missing events of a recording. mtrec records complete accounts; older versions and other
 * tools record the requested events only.
 */
#include "report/analyses/preconditions.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/records/record.h"
#include "report/account/call.h"
#include "report/blocks/block_calls.h"
#include "report/ledger/page_events.h"
#include "report/tables/facts.h"
#include "report/tables/text.h"

#define FAULTS "page-faults"
#define COUNTS "kmem:rss_stat"
#define ALLOCATIONS "allocations"
#define ENTRIES "sizes asked for"
#define FREES "frees"
#define AS_MAPPED "what was unmapped or moved counts as mapped"
#define AS_RESIDENT "what was given back counts as resident"
#define AS_RECLAIMED "what was given back counts as reclaimed"
#define OFF "figures are off"

/*
 * A rule applies if `missing` was not recorded, `present` was, and `absent` was not. A name that is
 * NULL is not checked.
 */
struct rule {
	unsigned int needs;
	const char *missing, *present, *absent;
	const char *limit;
};

static const struct rule rules[] = {
	{MT_NEEDS_GROWTH, "mmap", "brk", "munmap", "heap only"},
	{MT_NEEDS_GROWTH, "mmap", "munmap", NULL, "what was mapped has no path"},
	{MT_NEEDS_GROWTH, "brk", "mmap", NULL, "mappings only, without the heap"},
	{MT_NEEDS_GROWTH, "munmap", "mmap", NULL, AS_MAPPED},
	{MT_NEEDS_GROWTH, "mremap", "mmap", NULL, AS_MAPPED},
	{MT_NEEDS_MAPS, "munmap", NULL, NULL, AS_MAPPED},
	{MT_NEEDS_MAPS, "mremap", NULL, NULL, AS_MAPPED},
	{MT_NEEDS_MAPS, "mprotect", NULL, NULL, "protections are those of mmap"},
	{MT_NEEDS_PAGES, FAULTS, COUNTS, NULL, "pages have no path"},
	{MT_NEEDS_PAGES, "munmap", FAULTS, COUNTS, AS_RESIDENT},
	{MT_NEEDS_PAGES, "madvise", FAULTS, COUNTS, AS_RESIDENT},
	{MT_NEEDS_PAGES, "munmap", COUNTS, NULL, AS_RECLAIMED},
	{MT_NEEDS_PAGES, "madvise", COUNTS, NULL, AS_RECLAIMED},
	{MT_NEEDS_BLOCKS, FREES, ALLOCATIONS, NULL, "what was freed counts as live"},
	{MT_NEEDS_BLOCKS, ENTRIES, ALLOCATIONS, NULL, "bytes are usable ones"},
};

/* The sources of the figures: if none of them was recorded, there are no figures. */
static const char *const sources[] = {"brk",  "mmap", "munmap",	   "mremap",
				      FAULTS, COUNTS, ALLOCATIONS, FREES};

/* Operations on blocks that events record. */
static const struct {
	const char *what;
	enum mt_block_operation operation;
} parts[] = {
	{ALLOCATIONS, MT_BLOCK_ALLOC},
	{ENTRIES, MT_BLOCK_ENTER},
	{FREES, MT_BLOCK_FREE},
};

/* Whether the event records `what`: an operation on blocks, page events, or exits of a call. */
static bool records(const struct mt_facts_event *event, const char *what)
{
	enum mt_vm_call_kind kind, wanted;
	char name[64];

	if (event->role != MT_ROLE_SAMPLE && event->role != MT_ROLE_MARK)
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!strcmp(what, parts[i].what))
			return mt_block_operation_of(event->account) == parts[i].operation;
	}
	if (!strcmp(what, FAULTS))
		return mt_page_event_of(event).moment == MT_PAGE_FAULT;
	if (!strcmp(what, COUNTS))
		return mt_page_event_of(event).moment == MT_PAGE_COUNT;
	snprintf(name, sizeof(name), "syscalls:sys_exit_%s", what);
	mt_vm_call_moment(name, &wanted);
	return mt_vm_call_moment(event->name, &kind) == MT_MOMENT_EXIT && kind == wanted;
}

/* The event that records `what`. A sample is preferred to a mark. NULL if there is none. */
static const struct mt_facts_event *find(const struct mt_facts *facts, const char *what)
{
	const struct mt_facts_event *found = NULL;

	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (!records(event, what))
			continue;
		if (event->role == MT_ROLE_SAMPLE)
			return event;
		found = found ? found : event;
	}
	return found;
}

static bool holds(const struct rule *rule, const struct mt_facts *facts)
{
	return !find(facts, rule->missing) && (!rule->present || find(facts, rule->present)) &&
	       (!rule->absent || !find(facts, rule->absent));
}

/*
 * True if -c, -F, a size limit or a filter limited the event. The filter of raw_syscalls that names
 * the call leaves none of its calls out.
 */
static bool is_in_part(const struct mt_facts_event *event)
{
	const char *filter = strchr(event->name, '/');

	if (event->thinned || mt_attr_has(&event->attr, MT_ATTR_FREQ) ||
	    event->attr.sample_period > 1)
		return true;
	return filter && !*event->account &&
	       (strncmp(event->name, "raw_syscalls:", 13) || strstr(filter, "&&"));
}

static unsigned int needs_of(const char *source)
{
	return !strcmp(source, ALLOCATIONS) || !strcmp(source, FREES) ? MT_NEEDS_BLOCKS
	       : !strcmp(source, FAULTS) || !strcmp(source, COUNTS)
		       ? MT_NEEDS_PAGES
		       : MT_NEEDS_GROWTH | MT_NEEDS_MAPS;
}

enum {
	EVENTS_MOST = 8, /* events of one limit */
	LIMITS_MOST = 8,
};

/* Events that limit the figures in the same way. */
struct limit {
	const char *how, *text, *events[EVENTS_MOST];
	size_t count;
};

struct limits {
	struct limit items[LIMITS_MOST];
	size_t count;
};

static void add(struct limits *limits, const char *event, const char *how, const char *text)
{
	struct limit *limit = limits->items;

	while (limit < limits->items + limits->count &&
	       (strcmp(limit->how, how) || strcmp(limit->text, text)))
		limit++;
	if (limit == limits->items + LIMITS_MOST || limit->count == EVENTS_MOST)
		return;
	if (limit == limits->items + limits->count) {
		limits->count++;
		*limit = (struct limit){.how = how, .text = text};
	}
	limit->events[limit->count++] = event;
}

/* Prints a limit: "munmap and mremap were not recorded: ...". */
static void print(const struct limit *limit, FILE *to)
{
	for (size_t i = 0; i < limit->count; i++)
		fprintf(to, "%s%s",
			!i		       ? ""
			: i + 1 < limit->count ? ", "
					       : " and ",
			limit->events[i]);
	fprintf(to, " %s %s: %s", limit->count > 1 ? "were" : "was", limit->how, limit->text);
}

static void add_parts(unsigned int needs, const struct mt_facts *facts, struct limits *limits)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		const struct mt_facts_event *event = find(facts, sources[i]);

		if (!event || !is_in_part(event) || !(needs & needs_of(sources[i])))
			continue;
		if (needs_of(sources[i]) != MT_NEEDS_PAGES || !find(facts, COUNTS))
			add(limits, sources[i], "recorded in part", OFF);
	}
}

/* True for mtrec -i: children and later threads are in the side-band, but not in samples. */
static bool left_out_children(const struct mt_facts *facts)
{
	bool followed = false, alone = false;

	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];
		bool inherits = mt_attr_has(&event->attr, MT_ATTR_INHERIT);

		followed |= event->role == MT_ROLE_SIDEBAND && inherits;
		alone |= event->role == MT_ROLE_SAMPLE && !inherits;
	}
	return followed && alone;
}

/* Adds limits for marks, which count in full, but whose callers are unknown. */
static void add_stackless(unsigned int needs, const struct mt_facts *facts, struct limits *limits)
{
	static const char *const growing[] = {"brk", "mmap"};

	for (size_t i = 0; i < sizeof(growing) / sizeof(*growing); i++) {
		const struct mt_facts_event *event = find(facts, growing[i]);

		if ((needs & MT_NEEDS_GROWTH) && event && event->role == MT_ROLE_MARK)
			add(limits, growing[i], "recorded without stacks",
			    "what it mapped has no path");
	}
}

/* Adds limits if the choice of CPUs, threads or names left out data of recorded processes. */
static void add_choices(unsigned int needs, const struct mt_facts *facts, struct limits *limits)
{
	bool cpus = false, names = false, threads = false;

	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_facts_recording *recording = &facts->recordings.items[i];
		const char *target = mt_facts_info(recording, "target");

		cpus |= mt_facts_info(recording, "target-cpus") != NULL;
		names |= recording->in_part;
		threads |= target && !strncmp(target, "tid ", 4);
	}
	if (needs == MT_NEEDS_PAGES && find(facts, COUNTS))
		return;
	if (threads)
		add(limits, "what other threads did", "not recorded",
		    "figures are those of the chosen ones");
	if (left_out_children(facts))
		add(limits, "what children and later threads did", "not recorded",
		    "figures are without them");
	if (cpus)
		add(limits, "what ran on other CPUs", "not recorded", OFF);
	if (names)
		add(limits, "what threads of other names did", "not recorded", OFF);
}

/* Adds the limits of block sizes. `text` gets the words, which `limits` borrows. */
static void add_sizes(const struct mt_facts *facts, struct limits *limits, char *text, size_t size)
{
	uint64_t least = UINT64_MAX, most = 0, low, high;
	struct mt_snippet from, to;

	for (size_t i = 0; i < facts->events.count; i++) {
		if (!records(&facts->events.items[i], ALLOCATIONS) ||
		    !mt_block_sizes(facts->events.items[i].account, &low, &high))
			continue;
		least = low < least ? low : least;
		most = high > most ? high : most;
	}
	if (!most)
		return;
	from = mt_text_count((double)least);
	to = mt_text_count((double)most);
	if (most == UINT64_MAX)
		snprintf(text, size, "only blocks of %s bytes and more", from.text);
	else
		snprintf(text, size, "only blocks of %s to %s bytes", from.text, to.text);
	add(limits, "any other size", "not recorded", text);
}

/* Only glibc keeps a block's size in front of it. */
static void add_usable(const struct mt_facts *facts, struct limits *limits)
{
	bool lacks = false;

	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		lacks |= event->samples && records(event, ALLOCATIONS) &&
			 !strstr(event->format, " size;");
	}
	if (lacks && find(facts, ENTRIES))
		add(limits, "the usable size of some blocks", "not recorded",
		    "it is given as that asked for");
}

bool mt_preconditions_source(unsigned int needs, const struct mt_facts *facts)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		if ((needs & needs_of(sources[i])) && find(facts, sources[i]))
			return true;
	}
	return false;
}

bool mt_preconditions_blocks(const struct mt_facts *facts)
{
	return find(facts, ALLOCATIONS);
}

char *mt_preconditions_describe(unsigned int needs, const struct mt_facts *facts)
{
	struct limits limits = {0};
	char *text = NULL, sizes[128];
	size_t size;
	FILE *to;

	if (!mt_preconditions_source(needs, facts))
		return NULL;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if ((rules[i].needs & needs) && holds(&rules[i], facts))
			add(&limits, rules[i].missing, "not recorded", rules[i].limit);
	}
	add_parts(needs, facts, &limits);
	add_stackless(needs, facts, &limits);
	add_choices(needs, facts, &limits);
	if (needs & MT_NEEDS_BLOCKS)
		add_sizes(facts, &limits, sizes, sizeof(sizes));
	if (needs & MT_NEEDS_BLOCKS)
		add_usable(facts, &limits);
	if ((needs & MT_NEEDS_HELD) && mt_preconditions_blocks(facts))
		add(&limits, "what allocators gave", "not counted here", "--blocks shows it");
	if (!limits.count)
		return NULL;
	to = mt_open_text(&text, &size);
	for (size_t i = 0; i < limits.count; i++) {
		fputs(i ? "; " : "", to);
		print(&limits.items[i], to);
	}
	if (fclose(to))
		mt_memory_failed();
	return text;
}
