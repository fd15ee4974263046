/*
 * Collects lives of blocks by process and stack while the session is read, then merges stacks into
 * paths and judges these.
 */
#include "report/verdicts/leaks.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "report/blocks/block_calls.h"
#include "report/blocks/blocks.h"
#include "report/session/session.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/byte_runs.h"
#include "report/tables/facts.h"
#include "report/verdicts/block_verdict.h"
#include "report/verdicts/heaps.h"
#include "report/verdicts/history.h"
#include "report/verdicts/tierless_paths.h"

MT_DEFINE_CLEANUP(mt_leaks, struct mt_leaks)
MT_DEFINE_CLEANUP(mt_tierless_paths, struct mt_tierless_paths)

enum {
	LATE_LEAST = 512, /* frees that are kept before old ones are dropped */
};

#define BURST ((uint64_t)1000000000) /* ns, longer than the last clean-up of a process */

/* A stack of a space; later a path. */
struct place {
	uint32_t space; /* index */
	uint32_t stack; /* id of the stack or path */
};

/* The life of a block, or of its growth by resizing. */
struct life {
	uint64_t from, to;
	double bytes; /* bytes of all blocks that this one represents */
	bool grown;   /* growth, not the block's first bytes */
};

struct entry {
	struct mt_history history;
	MT_ARRAY(struct life) late; /* lives that ended lately, with all of the last BURST */
	size_t late_limit;
	struct place place;
	uint32_t stack;	 /* of a path: one of its stacks */
	uint32_t one_in; /* the most blocks that one represents */
};

struct space {
	uint32_t recording, process; /* process: string id */
	int32_t pid;
	bool ended;
	uint64_t began, end; /* time of the first block; end of the observed time */
};

struct mt_leaks {
	struct mt_session *session;
	bool stacks;
	struct mt_byte_runs *places; /* keys of entries */
	MT_ARRAY(struct entry) entries;
	MT_ARRAY(struct space) spaces;
	MT_ARRAY(struct mt_history_scale) scales; /* by recording */
	struct mt_map64 by_space; /* ids of the accounts' spaces, in the present recording */
	uint32_t recording;
	bool in_part; /* some blocks are unknown, so the heaps' parts are, too */
	struct mt_heaps *heaps;
	struct mt_leaks_also also;
	MT_ARRAY(struct mt_verdict_row) rows;
};

struct mt_error *mt_leaks_create(struct mt_session *session, bool stacks, struct mt_leaks **out)
{
	MT_CLEANUP(mt_leaks_destroy_p) struct mt_leaks *leaks = calloc(1, sizeof(*leaks));

	if (!leaks)
		return mt_error_nomem();
	leaks->session = session;
	leaks->stacks = stacks;
	leaks->places = mt_byte_runs_create();
	leaks->heaps = mt_heaps_create();
	if (!leaks->places || !leaks->heaps)
		return mt_error_nomem();
	*out = MT_TAKE(leaks);
	return NULL;
}

void mt_leaks_destroy(struct mt_leaks *leaks)
{
	if (!leaks)
		return;
	for (size_t i = 0; i < leaks->entries.count; i++) {
		mt_history_deinit(&leaks->entries.items[i].history);
		mt_array_deinit(&leaks->entries.items[i].late);
	}
	mt_array_deinit(&leaks->entries);
	mt_array_deinit(&leaks->spaces);
	mt_array_deinit(&leaks->scales);
	mt_array_deinit(&leaks->rows);
	mt_map64_deinit(&leaks->by_space);
	mt_byte_runs_destroy(leaks->places);
	mt_heaps_destroy(leaks->heaps);
	free(leaks);
}

/* ---- While the session is read ---- */

static struct mt_history_scale *scale_of(struct mt_leaks *leaks, uint32_t recording)
{
	const struct mt_facts *facts = mt_session_facts(leaks->session);

	while (leaks->scales.count <= recording) {
		uint64_t start = facts->recordings.items[leaks->scales.count].start;
		struct mt_history_scale *scale = mt_array_push(&leaks->scales);

		if (!scale)
			return NULL;
		*scale = (struct mt_history_scale){0};
		mt_history_scale_reach(scale, start);
	}
	return &leaks->scales.items[recording];
}

/* The index of a space; UINT32_MAX out of memory. */
static uint32_t find_space(struct mt_leaks *leaks, const struct mt_blocks_space *from)
{
	struct space *space;
	uint64_t index;

	if (leaks->recording != from->recording)
		mt_map64_deinit(&leaks->by_space);
	leaks->recording = from->recording;
	if (mt_map64_get(&leaks->by_space, (uintptr_t)from, &index))
		return (uint32_t)index;
	space = mt_array_push(&leaks->spaces);
	if (!space || !mt_map64_put(&leaks->by_space, (uintptr_t)from, leaks->spaces.count - 1))
		return UINT32_MAX;
	*space =
		(struct space){.recording = from->recording, .pid = from->pid, .began = UINT64_MAX};
	return (uint32_t)leaks->spaces.count - 1;
}

static struct entry *entry_at(struct mt_leaks *leaks, struct mt_byte_runs *places, size_t first,
			      const struct place *place)
{
	uint32_t at = mt_byte_runs_intern(places, place, sizeof(*place));
	struct entry *entry;

	if (at == MT_SEQUENCE_NONE)
		return NULL;
	if (first + at < leaks->entries.count)
		return &leaks->entries.items[first + at];
	entry = mt_array_push(&leaks->entries);
	if (entry)
		*entry = (struct entry){.place = *place, .late_limit = LATE_LEAST};
	return entry;
}

/* Keeps frees that may be the process's last clean-up. */
static bool note_late(struct entry *entry, const struct life *life)
{
	struct life *slot;
	size_t kept = 0;

	if (entry->late.count >= entry->late_limit) {
		for (size_t i = 0; i < entry->late.count; i++) {
			if (entry->late.items[i].to + BURST >= life->to)
				entry->late.items[kept++] = entry->late.items[i];
		}
		entry->late.count = kept;
		entry->late_limit = 2 * kept > LATE_LEAST ? 2 * kept : LATE_LEAST;
	}
	slot = mt_array_push(&entry->late);
	if (slot)
		*slot = *life;
	return slot;
}

static bool add_life(struct entry *entry, struct mt_history_scale *scale, const struct life *life)
{
	entry->history.grown += life->grown;
	entry->history.grown_live += life->grown && !life->to;
	return mt_history_live(&entry->history, scale, life->from, life->to, life->bytes) &&
	       (!life->to || note_late(entry, life));
}

/* Growth of a block counts from its time on, as if it were another block. */
static bool add_lives(struct entry *entry, struct mt_history_scale *scale,
		      const struct mt_block *block, uint32_t one_in, uint64_t to)
{
	const struct mt_block_growth whole = {block->time, block->bytes};
	const struct mt_block_growth *growths = block->sizes ? block->sizes->growths : &whole;
	size_t count = block->sizes ? block->sizes->count : 1;

	entry->history.resized += block->sizes ? block->sizes->resized : 0;
	for (size_t i = 0; i < count; i++) {
		const struct life life = {growths[i].time, to, (double)growths[i].bytes * one_in,
					  i};

		if (!add_life(entry, scale, &life))
			return false;
	}
	return true;
}

/* to: the end of the block; 0: it is live. */
static bool add_block(struct mt_leaks *leaks, const struct mt_blocks_space *from,
		      const struct mt_origin *origin, const struct mt_block *block, uint64_t to,
		      bool replaced)
{
	const struct mt_facts *facts = mt_session_facts(leaks->session);
	uint32_t one_in = mt_block_one_in(facts->events.items[origin->event].account);
	uint64_t least, most;
	struct place place = {find_space(leaks, from), origin->stack};
	struct mt_history_scale *scale = scale_of(leaks, from->recording);
	struct space *space;
	struct entry *entry;

	if (place.space == UINT32_MAX || !scale)
		return false;
	space = &leaks->spaces.items[place.space];
	space->process = origin->process;
	space->began = block->time < space->began ? block->time : space->began;
	if (!leaks->stacks)
		place.stack = MT_STACK_NONE;
	else if (place.stack == MT_STACK_NONE)
		return true;
	entry = entry_at(leaks, leaks->places, 0, &place);
	if (!entry)
		return false;
	entry->one_in = one_in > entry->one_in ? one_in : entry->one_in;
	leaks->in_part = leaks->in_part || one_in > 1 ||
			 facts->recordings.items[from->recording].blocks_end ||
			 mt_block_sizes(facts->events.items[origin->event].account, &least, &most);
	entry->history.replaced += replaced;
	return add_lives(entry, scale, block, one_in, to);
}

static bool take_gone(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block,
		      const struct mt_block_end *end)
{
	uint64_t last = mt_block_last(block);

	return end->resized || add_block(context, space, origin, block,
					 end->time > last ? end->time : last, end->replaced);
}

static bool take_live(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	struct mt_leaks *leaks = context;

	return add_block(leaks, space, origin, block, 0, false) &&
	       (!leaks->also.block ||
		leaks->also.block(leaks->also.context, space, origin, block, doubtful));
}

static bool take_remaining(void *context, const struct mt_blocks_space *from,
			   const struct mt_block_map *map)
{
	struct mt_leaks *leaks = context;
	uint32_t at = find_space(leaks, from);
	struct mt_history_scale *scale = scale_of(leaks, from->recording);

	if (at == UINT32_MAX || !scale)
		return false;
	leaks->spaces.items[at].end = from->time;
	leaks->spaces.items[at].ended = from->ended;
	mt_history_scale_reach(scale, from->time);
	return mt_heaps_take_blocks(leaks->heaps, from, at, map);
}

void mt_leaks_listen(struct mt_leaks *leaks, struct mt_blocks_options *options)
{
	options->block = take_live;
	options->gone = take_gone;
	options->remaining = take_remaining;
	options->context = leaks;
}

void mt_leaks_report_also(struct mt_leaks *leaks, const struct mt_leaks_also *also)
{
	leaks->also = *also;
}

void mt_leaks_listen_regions(struct mt_leaks *leaks, struct mt_verdicts *verdicts)
{
	mt_verdicts_report_regions(verdicts, &(struct mt_verdicts_regions){
						     .region = mt_heaps_take_region,
						     .done = mt_heaps_take_end,
						     .context = leaks->heaps,
					     });
}

/* ---- After the session's end ---- */

/*
 * Many programs free all blocks before they exit, which shows nothing about the time before. A free
 * before the path's last allocation is no clean-up, and neither is the free of a block that lived
 * for less than BURST.
 */
static bool forgive_cleanup(struct mt_leaks *leaks, struct entry *entry)
{
	const struct space *space = &leaks->spaces.items[entry->place.space];

	for (size_t i = 0; space->ended && i < entry->late.count; i++) {
		const struct life *late = &entry->late.items[i];

		if (late->to + BURST < space->end || late->to < entry->history.last ||
		    late->from + BURST >= late->to)
			continue;
		entry->history.grown_live += late->grown;
		if (!mt_history_undo_end(&entry->history, &leaks->scales.items[space->recording],
					 late->from, late->to, late->bytes))
			return false;
	}
	return true;
}

/* The path of each stack; NULL out of memory. `paths`: NULL if a process is one path. */
static struct mt_tierless_place *find_paths(struct mt_leaks *leaks, size_t stacks,
					    struct mt_tierless_paths *paths)
{
	MT_CLEANUP_FREE struct mt_tierless_place *found = calloc(stacks + 1, sizeof(*found));

	for (size_t i = 0; found && i < stacks; i++) {
		const struct place *place = &leaks->entries.items[i].place;

		found[i].space = place->space;
		found[i].path = paths ? mt_tierless_paths_of(paths, place->stack) : MT_PATH_NONE;
		if (paths && found[i].path == MT_PATH_NONE)
			return NULL;
	}
	if (!found || (paths && !mt_tierless_paths_complete(paths, found, stacks)))
		return NULL;
	return MT_TAKE(found);
}

/* Adds up the stacks' histories by path: entries of paths follow the entries of stacks. */
static bool sum_paths(struct mt_leaks *leaks, size_t stacks, struct mt_tierless_paths *paths,
		      struct mt_byte_runs *places)
{
	MT_CLEANUP_FREE struct mt_tierless_place *found = find_paths(leaks, stacks, paths);

	for (size_t i = 0; found && i < stacks; i++) {
		struct place place = leaks->entries.items[i].place;
		uint32_t stack = place.stack;
		struct entry *entry;

		place.stack = found[i].path;
		if (!forgive_cleanup(leaks, &leaks->entries.items[i]))
			return false;
		entry = entry_at(leaks, places, stacks, &place);
		if (!entry)
			return false;
		/* a complete stack shows the path */
		if (!paths || found[i].path == mt_tierless_paths_of(paths, stack))
			entry->stack = stack;
		if (leaks->entries.items[i].one_in > entry->one_in)
			entry->one_in = leaks->entries.items[i].one_in;
		if (!mt_history_add(
			    &entry->history,
			    &leaks->scales.items[leaks->spaces.items[place.space].recording],
			    &leaks->entries.items[i].history))
			return false;
	}
	return found;
}

static struct mt_verdict_row *add_row(struct mt_leaks *leaks, uint32_t number)
{
	const struct space *space = &leaks->spaces.items[number];
	const struct mt_facts_recording *recording =
		&mt_session_facts(leaks->session)->recordings.items[space->recording];
	struct mt_verdict_row *row = mt_array_push(&leaks->rows);

	if (row)
		*row = (struct mt_verdict_row){
			.pid = space->pid,
			.process = space->process,
			.ended_early =
				space->ended && mt_facts_ended_early(recording, space->pid,
								     space->began, space->end),
		};
	return row;
}

static bool judge_entry(struct mt_leaks *leaks, struct entry *entry)
{
	const struct space *space = &leaks->spaces.items[entry->place.space];
	struct mt_verdict_row *row = add_row(leaks, entry->place.space);

	if (!row)
		return false;
	row->stack = entry->stack;
	mt_verdict_judge_blocks(&entry->history, &leaks->scales.items[space->recording],
				space->began, space->end, &row->verdict);
	row->verdict.one_in = entry->one_in;
	if (space->ended)
		mt_verdict_consider_end(&row->verdict);
	leaks->rows.count -= !row->verdict.live;
	return true;
}

static bool judge_heap(void *context, uint32_t number, const struct mt_heap_parts *heap)
{
	struct mt_leaks *leaks = context;
	struct mt_verdict_row *row;
	uint32_t frame;

	if (leaks->spaces.items[number].began == UINT64_MAX) /* nothing of it was selected */
		return true;
	row = add_row(leaks, number);
	if (!row)
		return false;
	row->stack = MT_STACK_NONE;
	row->heap = *heap;
	mt_verdict_judge_heap(heap, &row->verdict);
	if (!leaks->stacks)
		return true;
	frame = mt_frames_words(mt_session_frames(leaks->session), "[heap]");
	if (frame == MT_FRAME_NONE)
		return false;
	row->stack = mt_stacks_intern(mt_session_stacks(leaks->session), &frame, 1);
	return row->stack != MT_STACK_NONE;
}

static struct mt_error *judge_paths(struct mt_leaks *leaks, struct mt_byte_runs *places)
{
	struct mt_frames *frames = mt_session_frames(leaks->session);
	MT_CLEANUP(mt_tierless_paths_destroy_p) struct mt_tierless_paths *paths = NULL;
	size_t stacks = leaks->entries.count;
	struct mt_error *err = NULL;

	if (leaks->stacks) {
		paths = mt_tierless_paths_create(mt_session_stacks(leaks->session), frames);
		err = paths ? mt_frames_resolve(frames) : mt_error_nomem();
	}
	if (err)
		return err;
	if (!sum_paths(leaks, stacks, paths, places))
		return mt_error_nomem();
	for (size_t i = stacks; i < leaks->entries.count; i++) {
		if (!judge_entry(leaks, &leaks->entries.items[i]))
			return mt_error_nomem();
	}
	if (!leaks->in_part && !mt_heaps_each(leaks->heaps, judge_heap, leaks))
		return mt_error_nomem();
	mt_verdict_rows_sort(leaks->rows.items, leaks->rows.count);
	return NULL;
}

struct mt_error *mt_leaks_judge(struct mt_leaks *leaks)
{
	struct mt_byte_runs *places = mt_byte_runs_create();
	struct mt_error *err = places ? judge_paths(leaks, places) : mt_error_nomem();

	mt_byte_runs_destroy(places);
	return err;
}

const struct mt_verdict_row *mt_leaks_rows(const struct mt_leaks *leaks, size_t *count)
{
	*count = leaks->rows.count;
	return leaks->rows.items;
}
