/*
 * Collects lives of blocks by process and stack while the session is read, then merges stacks into
 * paths and judges the paths.
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

MT_DEFINE_CLEANUP(mt_tierless_paths, struct mt_tierless_paths)

enum {
	LATE_LEAST = 512, /* frees that are kept before old ones are dropped */
};

#define BURST ((uint64_t)1000000000) /* ns, longer than the last clean-up of a process */

/* The life of a block, or of its growth by resizing. */
struct life {
	uint64_t from, to;
	double bytes; /* bytes of all blocks that this block represents */
	bool grown;   /* the life is of growth, not of the first bytes of the block */
};

struct entry {
	struct mt_history history;
	MT_ARRAY(struct life) late; /* lives that ended last: at least all of the last BURST ns */
	size_t late_limit;
	struct mt_tierless_place place;
	uint32_t stack;	 /* of a path: one of its stacks */
	uint32_t one_in; /* maximum number of blocks that one recorded block represents */
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
	bool in_part; /* some blocks are unknown, so the parts of heaps are unknown, too */
	struct mt_heaps *heaps;
	struct mt_leaks_also also;
	MT_ARRAY(struct mt_verdict_row) rows;
};

struct mt_leaks *mt_leaks_create(struct mt_session *session, bool stacks)
{
	struct mt_leaks *leaks = mt_alloc(1, sizeof(*leaks));

	leaks->session = session;
	leaks->stacks = stacks;
	leaks->places = mt_byte_runs_create();
	leaks->heaps = mt_heaps_create();
	return leaks;
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

		mt_history_scale_reach(mt_array_push(&leaks->scales), start);
	}
	return &leaks->scales.items[recording];
}

/* The index of a space. */
static uint32_t find_space(struct mt_leaks *leaks, const struct mt_blocks_space *from)
{
	size_t count = leaks->spaces.count;
	struct space *space;

	if (leaks->recording != from->recording)
		mt_map64_deinit(&leaks->by_space);
	leaks->recording = from->recording;
	space = mt_map64_element(&leaks->by_space, &leaks->spaces, (uintptr_t)from);
	if (leaks->spaces.count > count)
		*space = (struct space){
			.recording = from->recording, .pid = from->pid, .began = UINT64_MAX};
	return (uint32_t)(space - leaks->spaces.items);
}

static struct entry *entry_at(struct mt_leaks *leaks, struct mt_byte_runs *places, size_t first,
			      const struct mt_tierless_place *place)
{
	size_t at = first + mt_byte_runs_intern(places, place, sizeof(*place));

	if (at == leaks->entries.count)
		mt_array_append(&leaks->entries,
				(struct entry){.place = *place, .late_limit = LATE_LEAST});
	return &leaks->entries.items[at];
}

/* Keeps frees that may be the process's last clean-up. */
static void note_late(struct entry *entry, const struct life *life)
{
	size_t kept = 0;

	if (entry->late.count >= entry->late_limit) {
		for (size_t i = 0; i < entry->late.count; i++) {
			if (entry->late.items[i].to + BURST >= life->to)
				entry->late.items[kept++] = entry->late.items[i];
		}
		entry->late.count = kept;
		entry->late_limit = 2 * kept > LATE_LEAST ? 2 * kept : LATE_LEAST;
	}
	mt_array_append(&entry->late, *life);
}

static void add_life(struct entry *entry, struct mt_history_scale *scale, const struct life *life)
{
	entry->history.grown += life->grown;
	entry->history.grown_live += life->grown && !life->to;
	mt_history_live(&entry->history, scale, life->from, life->to, life->bytes);
	if (life->to)
		note_late(entry, life);
}

/* Adds the lives of a block: growth by resizing counts as another block from its time on. */
static void add_lives(struct entry *entry, struct mt_history_scale *scale,
		      const struct mt_block *block, uint32_t one_in, uint64_t to)
{
	const struct mt_block_growth whole = {block->time, block->bytes};
	const struct mt_block_growth *growths = block->sizes ? block->sizes->growths : &whole;
	size_t count = block->sizes ? block->sizes->count : 1;

	entry->history.resized += block->sizes ? block->sizes->resized : 0;
	for (size_t i = 0; i < count; i++) {
		const struct life life = {growths[i].time, to, (double)growths[i].bytes * one_in,
					  i};

		add_life(entry, scale, &life);
	}
}

/* Adds a block. to: the time when the block was freed; 0: it is live. */
static void add_block(struct mt_leaks *leaks, const struct mt_blocks_space *from,
		      const struct mt_origin *origin, const struct mt_block *block, uint64_t to,
		      bool replaced)
{
	const struct mt_facts *facts = mt_session_facts(leaks->session);
	uint32_t one_in = mt_block_one_in(facts->events.items[origin->event].account);
	uint64_t least, most;
	struct mt_tierless_place place = {find_space(leaks, from), origin->stack};
	struct mt_history_scale *scale = scale_of(leaks, from->recording);
	struct space *space;
	struct entry *entry;

	space = &leaks->spaces.items[place.space];
	space->process = origin->process;
	space->began = block->time < space->began ? block->time : space->began;
	if (!leaks->stacks)
		place.path = MT_STACK_NONE;
	else if (place.path == MT_STACK_NONE)
		return;
	entry = entry_at(leaks, leaks->places, 0, &place);
	entry->one_in = one_in > entry->one_in ? one_in : entry->one_in;
	leaks->in_part = leaks->in_part || one_in > 1 ||
			 facts->recordings.items[from->recording].blocks_end ||
			 mt_block_sizes(facts->events.items[origin->event].account, &least, &most);
	entry->history.replaced += replaced;
	add_lives(entry, scale, block, one_in, to);
}

static void take_gone(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block,
		      const struct mt_block_end *end)
{
	uint64_t last = mt_block_last(block);

	if (!end->resized)
		add_block(context, space, origin, block, end->time > last ? end->time : last,
			  end->replaced);
}

static void take_live(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, bool doubtful)
{
	struct mt_leaks *leaks = context;

	add_block(leaks, space, origin, block, 0, false);
	if (leaks->also.block)
		leaks->also.block(leaks->also.context, space, origin, block, doubtful);
}

static void take_remaining(void *context, const struct mt_blocks_space *from,
			   const struct mt_block_map *map)
{
	struct mt_leaks *leaks = context;
	uint32_t at = find_space(leaks, from);
	struct mt_history_scale *scale = scale_of(leaks, from->recording);

	leaks->spaces.items[at].end = from->time;
	leaks->spaces.items[at].ended = from->ended;
	mt_history_scale_reach(scale, from->time);
	mt_heaps_take_blocks(leaks->heaps, from, at, map);
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
 * Counts blocks as live if they were freed just before the process ended: many programs free all
 * blocks before they exit, which shows nothing about the time before. Blocks freed before the
 * path's last allocation and blocks that lived for less than BURST are not part of this.
 */
static void forgive_cleanup(struct mt_leaks *leaks, struct entry *entry)
{
	const struct space *space = &leaks->spaces.items[entry->place.space];

	for (size_t i = 0; space->ended && i < entry->late.count; i++) {
		const struct life *late = &entry->late.items[i];

		if (late->to + BURST < space->end || late->to < entry->history.last ||
		    late->from + BURST >= late->to)
			continue;
		entry->history.grown_live += late->grown;
		mt_history_undo_end(&entry->history, &leaks->scales.items[space->recording],
				    late->from, late->to, late->bytes);
	}
}

/*
 * Finds the path of each stack. `paths`: NULL if a process is judged as a whole. The caller frees.
 */
static struct mt_tierless_place *find_paths(struct mt_leaks *leaks, size_t stacks,
					    struct mt_tierless_paths *paths)
{
	struct mt_tierless_place *found = mt_alloc(stacks + 1, sizeof(*found));

	for (size_t i = 0; i < stacks; i++)
		found[i] = leaks->entries.items[i].place;
	mt_tierless_paths_find(paths, found, stacks);
	return found;
}

/* Adds up the histories of stacks by path. Entries of paths follow the entries of stacks. */
static void sum_paths(struct mt_leaks *leaks, size_t stacks, struct mt_tierless_paths *paths,
		      struct mt_byte_runs *places)
{
	MT_CLEANUP_FREE struct mt_tierless_place *found = find_paths(leaks, stacks, paths);

	for (size_t i = 0; i < stacks; i++) {
		struct mt_tierless_place place = leaks->entries.items[i].place;
		uint32_t stack = place.path;
		struct entry *entry;

		place.path = found[i].path;
		forgive_cleanup(leaks, &leaks->entries.items[i]);
		entry = entry_at(leaks, places, stacks, &place);
		/* a complete stack shows the path */
		if (!paths || found[i].path == mt_tierless_paths_of(paths, stack))
			entry->stack = stack;
		if (leaks->entries.items[i].one_in > entry->one_in)
			entry->one_in = leaks->entries.items[i].one_in;
		mt_history_add(&entry->history,
			       &leaks->scales.items[leaks->spaces.items[place.space].recording],
			       &leaks->entries.items[i].history);
	}
}

static struct mt_verdict_row *add_row(struct mt_leaks *leaks, uint32_t number)
{
	const struct space *space = &leaks->spaces.items[number];
	const struct mt_facts_recording *recording =
		&mt_session_facts(leaks->session)->recordings.items[space->recording];
	struct mt_verdict_row *row = mt_array_push(&leaks->rows);

	*row = (struct mt_verdict_row){
		.pid = space->pid,
		.process = space->process,
		.stack = MT_STACK_NONE,
		.ended_early = space->ended && mt_facts_ended_early(recording, space->pid,
								    space->began, space->end),
	};
	return row;
}

static void judge_entry(struct mt_leaks *leaks, struct entry *entry)
{
	const struct space *space = &leaks->spaces.items[entry->place.space];
	struct mt_verdict_row *row = add_row(leaks, entry->place.space);

	row->stack = entry->stack;
	mt_verdict_judge_blocks(&entry->history, &leaks->scales.items[space->recording],
				space->began, space->end, &row->verdict);
	row->verdict.one_in = entry->one_in;
	if (space->ended)
		mt_verdict_consider_end(&row->verdict);
	leaks->rows.count -= !row->verdict.live;
}

static void judge_heap(void *context, uint32_t number, const struct mt_heap_parts *heap)
{
	struct mt_leaks *leaks = context;
	struct mt_verdict_row *row;
	uint32_t frame;

	if (leaks->spaces.items[number].began == UINT64_MAX) /* no block was selected */
		return;
	row = add_row(leaks, number);
	row->heap = *heap;
	mt_verdict_judge_heap(heap, &row->verdict);
	if (leaks->stacks) {
		frame = mt_frames_words(mt_session_frames(leaks->session), "[heap]");
		row->stack = mt_stacks_intern(mt_session_stacks(leaks->session), &frame, 1);
	}
}

static void judge_paths(struct mt_leaks *leaks, struct mt_byte_runs *places)
{
	struct mt_frames *frames = mt_session_frames(leaks->session);
	MT_CLEANUP(mt_tierless_paths_destroy_p) struct mt_tierless_paths *paths = NULL;
	size_t stacks = leaks->entries.count;

	if (leaks->stacks) {
		paths = mt_tierless_paths_create(mt_session_stacks(leaks->session), frames);
		mt_frames_resolve(frames);
	}
	sum_paths(leaks, stacks, paths, places);
	for (size_t i = stacks; i < leaks->entries.count; i++)
		judge_entry(leaks, &leaks->entries.items[i]);
	if (!leaks->in_part)
		mt_heaps_each(leaks->heaps, judge_heap, leaks);
	mt_verdict_rows_sort(leaks->rows.items, leaks->rows.count);
}

void mt_leaks_judge(struct mt_leaks *leaks)
{
	struct mt_byte_runs *places = mt_byte_runs_create();

	judge_paths(leaks, places);
	mt_byte_runs_destroy(places);
}

const struct mt_verdict_row *mt_leaks_rows(const struct mt_leaks *leaks, size_t *count)
{
	*count = leaks->rows.count;
	return leaks->rows.items;
}
