/* Collects histories by process and stack during the ledger's run. */
#include "report/verdicts/verdicts.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/ledger/ledger.h"
#include "report/session/session.h"
#include "report/session/timespan.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"
#include "report/verdicts/region_pages.h"
#include "report/verdicts/verdicts_parts.h"

#define LATE_LEAST 512 /* number of returns that are kept before older ones are dropped */

static uint32_t stack_of_words(struct mt_session *session, const char *words)
{
	uint32_t frame = mt_frames_words(mt_session_frames(session), words);

	return mt_stacks_intern(mt_session_stacks(session), &frame, 1);
}

/*
 * The stack under which memory is judged: the stack that reserved it, or none if the process is
 * judged as a whole. Which path calls brk is chance, because other paths use freed blocks, so the
 * heap is judged separately.
 */
static uint32_t account_of(const struct mt_verdicts *verdicts, const struct mt_origin *origin,
			   const struct mt_region_attrs *attrs)
{
	if (!verdicts->stacks)
		return MT_STACK_NONE;
	if (attrs->kind == MT_REGION_HEAP)
		return verdicts->heap;
	return origin->stack == MT_STACK_NONE ? verdicts->stackless : origin->stack;
}

struct mt_verdicts *mt_verdicts_create(struct mt_session *session, bool stacks,
				       const struct mt_timespan *time)
{
	struct mt_verdicts *verdicts = mt_alloc(1, sizeof(*verdicts));

	verdicts->session = session;
	verdicts->stacks = stacks;
	verdicts->time = time;
	verdicts->places = mt_byte_runs_create();
	if (stacks) {
		verdicts->heap = stack_of_words(session, "[heap]");
		verdicts->collected_heap = stack_of_words(session, "[garbage-collected heap]");
		verdicts->stackless = stack_of_words(session, MT_FRAME_STACKLESS);
	}
	return verdicts;
}

void mt_verdicts_destroy(struct mt_verdicts *verdicts)
{
	if (!verdicts)
		return;
	for (size_t i = 0; i < verdicts->entries.count; i++) {
		mt_history_deinit(&verdicts->entries.items[i].history);
		mt_array_deinit(&verdicts->entries.items[i].late);
	}
	for (size_t i = 0; i < verdicts->spaces.count; i++)
		mt_page_map_deinit(&verdicts->spaces.items[i].touched);
	mt_array_deinit(&verdicts->entries);
	mt_array_deinit(&verdicts->spaces);
	mt_map64_deinit(&verdicts->by_space);
	mt_map64_deinit(&verdicts->by_pid);
	mt_array_deinit(&verdicts->scales);
	mt_mapping_readings_deinit(&verdicts->readings);
	mt_array_deinit(&verdicts->rows);
	mt_byte_runs_destroy(verdicts->places);
	free(verdicts);
}

/* ---- While the ledger runs ---- */

/* The key for the first or the last space of a process. */
static uint64_t pid_key(uint32_t recording, int32_t pid, bool last)
{
	return (uint64_t)recording << 33 | (uint64_t)last << 32 | (uint32_t)pid;
}

/* The index of a space. */
static uint32_t find_space(struct mt_verdicts *verdicts, const struct mt_ledger_space *from)
{
	struct mt_verdicts_space *space;
	uint64_t index;

	if (mt_map64_get(&verdicts->by_space, (uintptr_t)from, &index))
		return (uint32_t)index;
	index = verdicts->spaces.count;
	space = mt_array_push(&verdicts->spaces);
	mt_map64_put(&verdicts->by_space, (uintptr_t)from, index);
	mt_map64_add(&verdicts->by_pid, pid_key(from->recording, from->pid, false), index);
	mt_map64_put(&verdicts->by_pid, pid_key(from->recording, from->pid, true), index);
	*space = (struct mt_verdicts_space){.began = from->began,
					    .recording = from->recording,
					    .process = from->comm,
					    .pid = from->pid};
	return (uint32_t)index;
}

static struct mt_verdicts_entry *entry_at(struct mt_verdicts *verdicts, struct mt_byte_runs *places,
					  const struct mt_tierless_place *place)
{
	uint32_t at = mt_byte_runs_intern(places, place, sizeof(*place));
	struct mt_verdicts_entry *entry = mt_array_at(&verdicts->entries, at);

	entry->place = *place;
	return entry;
}

static struct mt_verdicts_scale *scale_of(struct mt_verdicts *verdicts, uint32_t recording)
{
	const struct mt_facts *facts = mt_session_facts(verdicts->session);

	while (verdicts->scales.count <= recording) {
		const struct mt_facts_recording *r =
			&facts->recordings.items[verdicts->scales.count];
		struct mt_verdicts_scale *scale = mt_array_push(&verdicts->scales);
		uint64_t from;

		mt_timespan_apply(verdicts->time, r->start, r->end, &from, &scale->to);
	}
	return &verdicts->scales.items[recording];
}

static bool has_verdict(const struct mt_origin *origin)
{
	return origin->kind == MT_ORIGIN_CALL && origin->selected;
}

/* True unless the loader maps the file: the loader maps parts of programs. */
static bool maps_files(const struct mt_verdicts *verdicts, uint32_t stack)
{
	const struct mt_frames *frames = mt_session_frames(verdicts->session);
	size_t depth;
	const uint32_t *ids = mt_stacks_get(mt_session_stacks(verdicts->session), stack, &depth);

	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_key *key = mt_frames_key(frames, ids[i]);

		if (!(key->flags & MT_FRAME_IN_KERNEL))
			return !mt_is_loader(mt_session_image_path(verdicts->session, key->image));
	}
	return false;
}

/* True for memory that a program holds; with paths, also for files that a path maps. */
static bool is_judged(const struct mt_verdicts *verdicts, const struct mt_origin *origin,
		      const struct mt_region_attrs *attrs)
{
	return has_verdict(origin) &&
	       (mt_region_attrs_are_held(attrs) ||
		(verdicts->stacks && attrs->kind == MT_REGION_FILE &&
		 origin->stack != MT_STACK_NONE && maps_files(verdicts, origin->stack)));
}

/* Counts reserved address space without access, which is not memory until it has some access. */
static void add_closed(struct mt_verdicts_space *space, const struct mt_change *change, int sign)
{
	if (change->time > space->stable_until + MT_VERDICTS_BURST) {
		space->stable = space->closing;
		space->stable_until = change->time;
	}
	space->closing += sign * (double)(change->end - change->start);
}

static void note_closed(struct mt_verdicts_space *space, const struct mt_ledger_change *post)
{
	const struct mt_change *change = post->change;

	add_closed(space, change, change->sign);
	if (change->sign < 0) {
		space->opened = (struct mt_range){change->start, change->end};
		space->opened_at = change->time;
	} else if (post->origin->kind == MT_ORIGIN_BEFORE) {
		space->closed_before += (double)(change->end - change->start);
	}
}

/* True for the heap, and for memory that grows within reserved address space as a heap does. */
static bool is_of_heap(const struct mt_verdicts_space *space, const struct mt_ledger_change *post,
		       bool opened)
{
	const struct mt_change *change = post->change;

	if (post->attrs->kind == MT_REGION_HEAP)
		return true;
	if (post->attrs->kind != MT_REGION_ANONYMOUS)
		return false;
	return opened ||
	       (space->opened_at == change->time && space->opened.start <= change->start &&
		change->start < space->opened.end);
}

/* Keeps returns that may be the process's last clean-up. */
static void note_late(struct mt_verdicts_entry *entry, const struct mt_change *change, double bytes)
{
	size_t kept = 0;

	if (entry->late.count >= LATE_LEAST && entry->late.count >= entry->late_limit) {
		for (size_t i = 0; i < entry->late.count; i++) {
			if (entry->late.items[i].time + MT_VERDICTS_BURST >= change->time)
				entry->late.items[kept++] = entry->late.items[i];
		}
		entry->late.count = kept;
		entry->late_limit = 2 * kept;
	}
	mt_array_append(&entry->late,
			(struct mt_verdicts_returned){change->time, change->reserved, bytes});
}

/* Adds a change to the history of its path. opened: mprotect gave access to mapped memory. */
static void add_change(struct mt_verdicts *verdicts, const struct mt_ledger *ledger,
		       const struct mt_ledger_change *post, bool opened)
{
	const struct mt_change *change = post->change;
	const struct mt_origin *owner =
		change->sign < 0 ? mt_ledger_origin(ledger, change->reserved_by) : post->origin;
	struct mt_tierless_place place = {.path = account_of(verdicts, owner, post->attrs)};
	double bytes = (double)(change->end - change->start);
	struct mt_verdicts_scale *scale;
	struct mt_verdicts_entry *entry;
	bool older;

	older = change->sign < 0 && owner->kind == MT_ORIGIN_BEFORE &&
		mt_region_attrs_are_held(post->attrs);
	if (!change->sign || !(older || is_judged(verdicts, owner, post->attrs)))
		return;
	place.space = find_space(verdicts, post->space);
	scale = scale_of(verdicts, post->space->recording);
	if (change->time >= scale->to)
		return;
	if (older) {
		verdicts->spaces.items[place.space].older_back += bytes;
		return;
	}
	entry = entry_at(verdicts, verdicts->places, &place);
	verdicts->spaces.items[place.space].process = owner->process;
	if (change->sign > 0) {
		entry->reserved += bytes;
		entry->newest = bytes;
		entry->files += mt_region_attrs_are_held(post->attrs) ? 0 : bytes;
		entry->stacks += post->attrs->kind == MT_REGION_THREAD_STACK ? bytes : 0;
		entry->heap +=
			is_of_heap(&verdicts->spaces.items[place.space], post, opened) ? bytes : 0;
		mt_history_reserve(&entry->history, &scale->history, change->time, bytes);
		return;
	}
	entry->returned++;
	entry->history.replaced += change->reserved < entry->history.last && bytes < entry->newest;
	/* Memory that the parent reserved before the fork is not part of the child's history. */
	if (entry->history.count && change->reserved >= entry->history.first) {
		note_late(entry, change, bytes);
		mt_history_return(&entry->history, &scale->history, change->time, change->reserved,
				  bytes);
	}
}

/* ---- Pages ---- */

enum {
	PAGE_SHIFT = 12,
	PAGE = 1 << PAGE_SHIFT,
	TOUCHED = 1, /* the holder of all touched pages */
};

/* Marks pages as touched or given back. */
static void mark_pages(struct mt_verdicts_space *space, uint64_t start, uint64_t end, bool touched)
{
	uint64_t first = start >> PAGE_SHIFT, after = end >> PAGE_SHIFT;

	if (touched)
		mt_page_map_fill(&space->touched, first, after, UINT64_MAX, TOUCHED);
	else
		mt_page_map_clear(&space->touched, first, after, NULL, NULL);
}

static void take_touch(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_touch *touch)
{
	struct mt_verdicts *verdicts = context;
	uint64_t page = touch->address & ~(uint64_t)(PAGE - 1);
	uint32_t space;

	(void)ledger;
	if (touch->order || page > INT64_MAX)
		return;
	space = find_space(verdicts, touch->space);
	verdicts->spaces.items[space].faults = true;
	mark_pages(&verdicts->spaces.items[space], page, page + PAGE, true);
}

static void take_count(void *context, const struct mt_ledger *ledger,
		       const struct mt_ledger_count *count)
{
	(void)context;
	(void)ledger;
	(void)count;
}

/* Counts pages that were given back while they stay mapped, as part of the course of their path. */
static void note_advice(struct mt_verdicts *verdicts, const struct mt_ledger *ledger,
			const struct mt_extent *region, uint32_t space)
{
	const struct mt_origin *origin = mt_ledger_origin(ledger, region->origin);
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), region->attrs);
	struct mt_tierless_place place = {space, account_of(verdicts, origin, attrs)};
	double bytes = mt_region_pages_touched(&verdicts->spaces.items[space].touched, region);
	struct mt_verdicts_entry *entry;

	if (!bytes || !is_judged(verdicts, origin, attrs))
		return;
	entry = entry_at(verdicts, verdicts->places, &place);
	entry->advised += bytes;
	entry->advices++;
}

static void take_advice(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_space *from, const struct mt_range *range,
			bool touched)
{
	struct mt_verdicts *verdicts = context;
	uint32_t space = find_space(verdicts, from);
	const struct mt_extent *region = mt_extents_after(from->account->regions, range->start);

	for (; !touched && region && region->start < range->end;
	     region = mt_extents_after(from->account->regions, region->end)) {
		struct mt_extent part = *region;

		part.start = part.start > range->start ? part.start : range->start;
		part.end = part.end < range->end ? part.end : range->end;
		note_advice(verdicts, ledger, &part, space);
	}
	mark_pages(&verdicts->spaces.items[space], range->start, range->end, touched);
}

static void take_move(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *from, uint64_t at, uint64_t to, uint64_t size)
{
	struct mt_verdicts *verdicts = context;
	uint32_t space = find_space(verdicts, from);

	(void)ledger;
	mt_page_map_move(&verdicts->spaces.items[space].touched, at >> PAGE_SHIFT, to >> PAGE_SHIFT,
			 size >> PAGE_SHIFT);
}

/* True for memory whose pages are meant to be used, unlike reserved address space. */
static bool is_for_use(const struct mt_region_attrs *attrs)
{
	return (attrs->kind == MT_REGION_ANONYMOUS || attrs->kind == MT_REGION_HEAP ||
		attrs->kind == MT_REGION_THREAD_STACK) &&
	       (attrs->prot & PROT_WRITE);
}

static void add_held(struct mt_verdicts *verdicts, const struct mt_ledger *ledger, uint32_t space,
		     const struct mt_extent *region)
{
	const struct mt_origin *origin = mt_ledger_origin(ledger, region->origin);
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), region->attrs);
	struct mt_tierless_place place = {space, account_of(verdicts, origin, attrs)};
	double held = (double)(region->end - region->start);
	struct mt_verdicts_entry *entry;

	if (!is_judged(verdicts, origin, attrs) || !attrs->prot)
		return;
	if (is_for_use(attrs))
		held = mt_region_pages_touched(&verdicts->spaces.items[space].touched, region);
	entry = entry_at(verdicts, verdicts->places, &place);
	entry->held += held;
}

bool mt_verdicts_know_pages(const struct mt_verdicts *verdicts,
			    const struct mt_verdicts_space *space)
{
	const struct mt_facts *facts = mt_session_facts(verdicts->session);

	if (!verdicts->pages || verdicts->time->given || !space->faults || space->pages_lost)
		return false;
	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (mt_page_event_of(event).moment == MT_PAGE_FAULT && !event->thinned &&
		    event->attr.sample_period <= 1 && !mt_attr_has(&event->attr, MT_ATTR_FREQ))
			return true;
	}
	return false;
}

static void report_region(const struct mt_verdicts *verdicts, const struct mt_ledger *ledger,
			  const struct mt_verdicts_space *space, struct mt_region_pages *pages,
			  const struct mt_extent *region)
{
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), region->attrs);
	struct mt_extent part = *region;

	if (!verdicts->regions.region || !is_for_use(attrs) ||
	    attrs->kind == MT_REGION_THREAD_STACK)
		return;
	for (; part.start < region->end; part.start = part.end) {
		part.end = region->end;
		part.end = mt_region_pages_border(pages, &part);
		verdicts->regions.region(verdicts->regions.context, pages->space, &part,
					 attrs->kind == MT_REGION_HEAP,
					 mt_region_pages_older(pages, &part),
					 mt_verdicts_know_pages(verdicts, space)
						 ? mt_region_pages_in_use(pages, &part)
						 : NAN);
	}
}

static void take_remaining(void *context, const struct mt_ledger *ledger,
			   const struct mt_ledger_space *from, const struct mt_extents *regions,
			   uint64_t time)
{
	struct mt_verdicts *verdicts = context;
	const struct mt_verdicts_scale *scale = scale_of(verdicts, from->recording);
	const struct mt_extent *region = mt_extents_after(regions, 0);
	uint32_t at = find_space(verdicts, from);
	struct mt_verdicts_space *space = &verdicts->spaces.items[at];
	struct mt_region_pages pages;

	pages = mt_region_pages_of(ledger, from, regions, &space->touched, &verdicts->readings,
				   time);
	space->end = time < scale->to ? time : scale->to;
	space->ended = from->ended && from->ended <= space->end;
	space->pages_lost = mt_ledger_pages_lost(ledger, from->began, time);
	for (; region; region = mt_extents_after(regions, region->end)) {
		if (!mt_attrs_get(mt_ledger_attrs(ledger), region->attrs)->prot)
			space->closed += (double)(region->end - region->start);
		report_region(verdicts, ledger, space, &pages, region);
		if (verdicts->pages && !mt_ledger_inherited(from, region))
			add_held(verdicts, ledger, at, region);
	}
	if (space->ended)
		space->closed += space->stable - space->closing;
	mt_page_map_deinit(&verdicts->spaces.items[at].touched);
	if (verdicts->regions.done)
		verdicts->regions.done(verdicts->regions.context, from);
}

static void take_gauge(void *context, uint32_t recording, const struct mt_gauge_record *gauge)
{
	struct mt_verdicts *verdicts = context;

	mt_mapping_readings_take(&verdicts->readings, recording, gauge);
}

static void report_also(const struct mt_verdicts *verdicts, const struct mt_ledger *ledger,
			const struct mt_ledger_change *post)
{
	if (verdicts->also.change)
		verdicts->also.change(verdicts->also.context, ledger, post);
}

static void take_change(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_change *post)
{
	const struct mt_change *change = post->change;
	struct mt_verdicts *verdicts = context;
	uint32_t space = find_space(verdicts, post->space);

	/* New memory is untouched; unmapped memory is no longer touched. */
	if (change->sign)
		mark_pages(&verdicts->spaces.items[space], change->start, change->end, false);
	if (change->sign && !post->attrs->prot) {
		note_closed(&verdicts->spaces.items[space], post);
		return;
	}
	add_change(verdicts, ledger, post, false);
	report_also(verdicts, ledger, post);
}

static void take_access(void *context, const struct mt_ledger *ledger,
			const struct mt_ledger_change *post)
{
	struct mt_verdicts *verdicts = context;
	uint32_t space;

	if (!post->change->sign)
		return;
	space = find_space(verdicts, post->space);
	add_closed(&verdicts->spaces.items[space], post->change, -post->change->sign);
	add_change(verdicts, ledger, post, true);
	report_also(verdicts, ledger, post);
}

void mt_verdicts_report_also(struct mt_verdicts *verdicts, const struct mt_verdicts_also *also)
{
	verdicts->also = *also;
}

void mt_verdicts_report_regions(struct mt_verdicts *verdicts,
				const struct mt_verdicts_regions *regions)
{
	verdicts->regions = *regions;
}

void mt_verdicts_listen(struct mt_verdicts *verdicts, struct mt_ledger_options *options)
{
	verdicts->pages = true;
	options->change = take_change;
	options->accessed = take_access;
	options->remaining = take_remaining;
	options->advised = take_advice;
	options->stackless = true;
	options->touched = take_touch;
	options->counted = take_count;
	options->moved = take_move;
	options->gauged = take_gauge;
	options->context = verdicts;
}

double mt_verdicts_closed_growth(const struct mt_verdicts *verdicts, uint32_t recording,
				 int32_t pid, bool is_new)
{
	uint64_t first, last;

	if (!mt_map64_get(&verdicts->by_pid, pid_key(recording, pid, false), &first) ||
	    !mt_map64_get(&verdicts->by_pid, pid_key(recording, pid, true), &last))
		return 0;
	return verdicts->spaces.items[last].closed -
	       (is_new ? 0 : verdicts->spaces.items[first].closed_before);
}
