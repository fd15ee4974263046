/* Spaces in order of first appearance. */
#include "report/ledger/ledger_spaces.h"

#include <stdlib.h>

#include "report/account/overlaps.h"
#include "report/stacks/spaces.h"
#include "report/tables/facts.h"

static void space_destroy(struct mt_ledger_space *space)
{
	mt_extents_destroy(space->watch->peak_regions);
	mt_overlaps_destroy(space->watch->overlaps);
	free(space->watch->copies);
	free(space->watch);
	mt_account_destroy(space->account);
	free(space);
}

void mt_ledger_spaces_deinit(struct mt_ledger_spaces *spaces)
{
	for (size_t i = 0; i < spaces->all.count; i++)
		space_destroy(spaces->all.items[i]);
	mt_array_deinit(&spaces->all);
	mt_map64_deinit(&spaces->by_space);
	mt_map64_deinit(&spaces->by_pid);
}

static struct mt_ledger_space *new_space(struct mt_ledger_spaces *spaces,
					 const struct mt_space *from, uint32_t recording)
{
	struct mt_ledger_space *space = mt_alloc(1, sizeof(*space));
	uint64_t older;

	space->watch = mt_alloc(1, sizeof(*space->watch));
	if (mt_map64_get(&spaces->by_pid, (uint32_t)from->pid, &older))
		space->watch->older = spaces->all.items[older];
	space->watch->space = from;
	space->recording = recording;
	space->pid = from->pid;
	space->generation = from->generation;
	space->start_time = from->start_time;
	mt_map64_put(&spaces->by_pid, (uint32_t)from->pid, spaces->all.count);
	mt_map64_put(&spaces->by_space, from->id, spaces->all.count);
	mt_array_append(&spaces->all, space);
	return space;
}

struct mt_ledger_space *mt_ledger_spaces_of(struct mt_ledger_spaces *spaces,
					    const struct mt_space *space, uint32_t recording)
{
	uint64_t index;

	return mt_map64_get(&spaces->by_space, space->id, &index)
		       ? spaces->all.items[index]
		       : new_space(spaces, space, recording);
}

/*
 * True if an older space of the pid has not ended. Effects are posted later than they are read, so
 * that end may not be posted yet.
 */
static bool has_not_begun(const struct mt_ledger_space *space)
{
	return !space->account && space->watch->older && !space->watch->older->ended;
}

/* Spaces that ended are skipped. */
struct mt_ledger_space *mt_ledger_spaces_of_pid(struct mt_ledger_spaces *spaces, int32_t pid)
{
	struct mt_ledger_space *last, *space;
	uint64_t index;

	if (!mt_map64_get(&spaces->by_pid, (uint32_t)pid, &index))
		return NULL;
	last = space = spaces->all.items[index];
	while (space->ended && space->watch->older)
		space = space->watch->older;
	if (space != last)
		last->watch->older = space;
	while (has_not_begun(space))
		space = space->watch->older;
	return space->ended ? NULL : space;
}

void mt_ledger_spaces_doubt_pages(struct mt_ledger_spaces *spaces)
{
	for (; spaces->advised < spaces->all.count; spaces->advised++) {
		struct mt_ledger_space *space = spaces->all.items[spaces->advised];

		if (!space->ended)
			space->unseen |= MT_UNSEEN_ADVISED;
	}
}

void mt_ledger_spaces_end_recording(struct mt_ledger_spaces *spaces)
{
	for (size_t i = spaces->from; i < spaces->all.count; i++)
		spaces->all.items[i]->watch->space = NULL;
	spaces->advised = spaces->from = spaces->all.count;
	mt_map64_deinit(&spaces->by_space);
	mt_map64_deinit(&spaces->by_pid);
}
