/* Merges the stacks' histories into paths, and judges the paths. */
#include "report/verdicts/verdicts_parts.h"

#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/session/session.h"
#include "report/stacks/code_class.h"
#include "report/stacks/frames.h"
#include "report/stacks/runtime_functions.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"
#include "report/verdicts/tierless_paths.h"

MT_DEFINE_CLEANUP(mt_tierless_paths, struct mt_tierless_paths)

enum {
	PAGE_ALLOCATOR_DEPTH = 6, /* innermost frames searched, with those of the kernel and libc */
};

enum {
	/* Fewer replaced pieces prove nothing: a path that doubles its memory replaces few. */
	LEAST_REPLACED = 2,
};

static const struct mt_history_scale *scale_of_space(const struct mt_verdicts *verdicts,
						     uint32_t space)
{
	return &verdicts->scales.items[verdicts->spaces.items[space].recording].history;
}

/* True if is() is true for a function in the innermost frames of a stack. */
static bool ends_in(const struct mt_verdicts *verdicts, uint32_t stack, bool (*is)(const char *))
{
	struct mt_frames *frames = mt_session_frames(verdicts->session);
	struct mt_strings *strings = mt_frames_strings(frames);
	size_t depth, count;
	const uint32_t *ids = mt_stacks_get(mt_session_stacks(verdicts->session), stack, &depth);

	for (size_t i = 0; i < depth && i < PAGE_ALLOCATOR_DEPTH; i++) {
		const struct mt_frame_name *names = mt_frames_names(frames, ids[i], &count);

		for (size_t k = 0; names && k < count; k++) {
			if (is(mt_strings_get(strings, names[k].name)))
				return true;
		}
	}
	return false;
}

/* True if the innermost function outside of kernel and C library is in an allocator library. */
static bool is_in_allocator(const struct mt_verdicts *verdicts, uint32_t stack)
{
	const struct mt_frames *frames = mt_session_frames(verdicts->session);
	size_t depth;
	const uint32_t *ids = mt_stacks_get(mt_session_stacks(verdicts->session), stack, &depth);

	for (size_t i = 0; i < depth; i++) {
		const struct mt_frame_key *key = mt_frames_key(frames, ids[i]);
		const char *path = mt_session_image_path(verdicts->session, key->image);

		if (!(key->flags & MT_FRAME_IN_KERNEL) && !mt_is_c_library(path))
			return mt_is_allocator(path);
	}
	return false;
}

/*
 * The stack under which a stack's memory is judged. Pages for a garbage collector are judged
 * together, and so is memory that allocators mapped for many blocks.
 */
static uint32_t judged_as(const struct mt_verdicts *verdicts, uint32_t stack)
{
	if (stack == MT_STACK_NONE)
		return stack;
	if (ends_in(verdicts, stack, mt_is_page_allocator))
		return verdicts->collected_heap;
	return ends_in(verdicts, stack, mt_is_arena_mapper) || is_in_allocator(verdicts, stack)
		       ? verdicts->heap
		       : stack;
}

/*
 * Counts memory as held if it was returned just before the process ended: many programs free all
 * memory before they exit, which shows nothing about the time before. Memory returned before the
 * last reservation is not part of this: a cache replaces entries to the end.
 */
static void forgive_cleanup(struct mt_verdicts_entry *entry, struct mt_history_scale *scale,
			    uint64_t end)
{
	for (size_t i = 0; i < entry->late.count; i++) {
		const struct mt_verdicts_returned *late = &entry->late.items[i];

		if (late->time + MT_VERDICTS_BURST < end || late->time < entry->history.last)
			continue;
		entry->forgiven = true;
		mt_history_return(&entry->history, scale, late->time, late->reserved, -late->bytes);
	}
}

/* Finds the path of each stack, and completes the paths of truncated stacks. The caller frees. */
static struct mt_tierless_place *find_paths(const struct mt_verdicts *verdicts, size_t stacks,
					    struct mt_tierless_paths *paths)
{
	struct mt_tierless_place *found = mt_alloc(stacks + 1, sizeof(*found));

	for (size_t i = 0; i < stacks; i++) {
		const struct mt_tierless_place *place = &verdicts->entries.items[i].place;

		found[i] =
			(struct mt_tierless_place){place->space, judged_as(verdicts, place->path)};
	}
	mt_tierless_paths_find(paths, found, stacks);
	return found;
}

/* Adds up the histories of stacks by path. Entries of paths follow the entries of stacks. */
static void sum_paths(struct mt_verdicts *verdicts, size_t stacks, struct mt_byte_runs *places,
		      struct mt_tierless_paths *paths)
{
	MT_CLEANUP_FREE struct mt_tierless_place *found = find_paths(verdicts, stacks, paths);

	for (size_t i = 0; i < stacks; i++) {
		struct mt_tierless_place place = verdicts->entries.items[i].place;
		const struct mt_verdicts_space *space = &verdicts->spaces.items[place.space];
		uint32_t stack = judged_as(verdicts, place.path), at;
		bool moved = stack != place.path;
		struct mt_verdicts_entry *entry;

		place.path = found[i].path;
		if (space->ended)
			forgive_cleanup(&verdicts->entries.items[i],
					&verdicts->scales.items[space->recording].history,
					space->end);
		at = mt_byte_runs_intern(places, &place, sizeof(place));
		entry = mt_array_at(&verdicts->entries, stacks + at);
		entry->place = place;
		if (!paths || found[i].path == mt_tierless_paths_of(paths, stack))
			entry->stack = stack; /* a complete stack shows the path */
		entry->held += verdicts->entries.items[i].held;
		entry->advised += verdicts->entries.items[i].advised;
		entry->advices += verdicts->entries.items[i].advices;
		entry->returned += verdicts->entries.items[i].returned;
		entry->forgiven |= verdicts->entries.items[i].forgiven;
		entry->reserved += verdicts->entries.items[i].reserved;
		entry->files += verdicts->entries.items[i].files;
		entry->stacks += verdicts->entries.items[i].stacks;
		entry->heap += moved ? verdicts->entries.items[i].reserved
				     : verdicts->entries.items[i].heap;
		mt_history_add(&entry->history, scale_of_space(verdicts, place.space),
			       &verdicts->entries.items[i].history);
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct mt_verdict_row *x = a, *y = b;

	if (x->verdict.bytes != y->verdict.bytes)
		return x->verdict.bytes > y->verdict.bytes ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

void mt_verdict_rows_sort(struct mt_verdict_row *rows, size_t count)
{
	if (count)
		qsort(rows, count, sizeof(*rows), compare_rows);
}

/*
 * False for files that are mapped only once, such as locale files, and for stacks of threads that
 * are hardly touched.
 */
static bool reports_anything(const struct mt_verdicts_entry *entry,
			     const struct mt_verdict *verdict)
{
	if (entry->stacks > entry->reserved / 2 && mt_verdict_is_untouched(verdict))
		return false;
	return !verdict->files ||
	       (verdict->kind != MT_VERDICT_ONE_OFF && verdict->kind != MT_VERDICT_TOO_LITTLE);
}

static void judge_entry(struct mt_verdicts *verdicts, struct mt_verdicts_entry *entry)
{
	const struct mt_verdicts_space *space = &verdicts->spaces.items[entry->place.space];
	const struct mt_facts_recording *recording =
		&mt_session_facts(verdicts->session)->recordings.items[space->recording];
	struct mt_verdict_row *row;

	if (!entry->history.count)
		return;
	row = mt_array_push(&verdicts->rows);
	*row = (struct mt_verdict_row){
		.pid = space->pid,
		.process = space->process,
		.stack = entry->stack,
		.ended_early = space->ended && mt_facts_ended_early(recording, space->pid,
								    space->began, space->end),
	};
	mt_verdict_judge(&entry->history, scale_of_space(verdicts, entry->place.space), space->end,
			 &row->verdict);
	row->verdict.replaced = row->verdict.why && entry->history.replaced >= LEAST_REPLACED &&
				entry->history.replaced == entry->returned;
	row->verdict.files = entry->files > entry->reserved / 2;
	row->of_heap = entry->heap > entry->reserved / 2;
	if (row->of_heap)
		mt_verdict_consider_heap(
			&row->verdict, verdicts->stacks && entry->stack == verdicts->collected_heap,
			space->ended ? 0 : space->older_back);
	if (verdicts->stacks && entry->stack == verdicts->stackless)
		mt_verdict_consider_pathless(&row->verdict);
	if (space->ended)
		mt_verdict_consider_end(&row->verdict);
	if (mt_verdicts_know_pages(verdicts, space) && !entry->forgiven)
		mt_verdict_consider_pages(&row->verdict, entry->held);
	mt_verdict_consider_advice(&row->verdict, entry->advices, entry->advised);
	verdicts->rows.count -= !reports_anything(entry, &row->verdict);
}

/* Extends all scales to the end of the observed time. */
static void reach_ends(struct mt_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->spaces.count; i++) {
		const struct mt_verdicts_space *space = &verdicts->spaces.items[i];
		struct mt_history_scale *scale;

		if (space->recording >= verdicts->scales.count) /* no memory was selected */
			continue;
		scale = &verdicts->scales.items[space->recording].history;
		if (scale->begun)
			mt_history_scale_reach(scale, space->end);
	}
}

static void judge_paths(struct mt_verdicts *verdicts, struct mt_byte_runs *places)
{
	MT_CLEANUP(mt_tierless_paths_destroy_p) struct mt_tierless_paths *paths = NULL;
	size_t stacks = verdicts->entries.count;

	if (verdicts->stacks) {
		struct mt_frames *frames = mt_session_frames(verdicts->session);

		paths = mt_tierless_paths_create(mt_session_stacks(verdicts->session), frames);
		mt_frames_resolve(frames);
	}
	reach_ends(verdicts);
	sum_paths(verdicts, stacks, places, paths);
	for (size_t i = stacks; i < verdicts->entries.count; i++)
		judge_entry(verdicts, &verdicts->entries.items[i]);
	mt_verdict_rows_sort(verdicts->rows.items, verdicts->rows.count);
}

void mt_verdicts_judge(struct mt_verdicts *verdicts)
{
	struct mt_byte_runs *places = mt_byte_runs_create();

	judge_paths(verdicts, places);
	mt_byte_runs_destroy(places);
}

const struct mt_verdict_row *mt_verdicts_rows(const struct mt_verdicts *verdicts, size_t *count)
{
	*count = verdicts->rows.count;
	return verdicts->rows.items;
}
