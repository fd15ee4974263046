/*
 * Keeps at most MT_ENDED_SPACES spaces. A new space replaces the one with the fewest bytes, so
 * memory is bounded by the paths of four processes.
 */
#include "report/analyses/rows/ended_blocks.h"

#include "report/blocks/blocks.h"
#include "report/tables/estimate.h"

static void deinit_space(struct mt_ended_space *space)
{
	mt_array_deinit(&space->paths);
	mt_map64_deinit(&space->by_origin);
}

void mt_ended_blocks_deinit(struct mt_ended_blocks *ended)
{
	for (size_t i = 0; i < MT_ENDED_SPACES; i++)
		deinit_space(&ended->spaces[i]);
}

static bool is_same(const struct mt_ended_space *known, const struct mt_blocks_space *space)
{
	return known->bytes && known->pid == space->pid && known->recording == space->recording &&
	       known->generation == space->generation;
}

static struct mt_ended_space *space_of(struct mt_ended_blocks *ended,
				       const struct mt_blocks_space *space)
{
	struct mt_ended_space *least = ended->spaces;

	for (size_t i = 0; i < MT_ENDED_SPACES; i++) {
		if (is_same(&ended->spaces[i], space))
			return &ended->spaces[i];
		least = ended->spaces[i].bytes < least->bytes ? &ended->spaces[i] : least;
	}
	deinit_space(least);
	*least = (struct mt_ended_space){
		.recording = space->recording,
		.generation = space->generation,
		.pid = space->pid,
	};
	return least;
}

void mt_ended_blocks_add(struct mt_ended_blocks *ended, const struct mt_blocks_space *space,
			 const struct mt_origin *origin, const struct mt_block *block,
			 const struct mt_value *values, size_t count, uint32_t most)
{
	struct mt_ended_space *of = space_of(ended, space);
	struct mt_ended_path *path = mt_map64_element(&of->by_origin, &of->paths, block->origin);

	path->origin = *origin;
	of->bytes += block->bytes ? block->bytes : 1;
	path->blocks++;
	for (size_t i = 0; i < count && i < MT_ENDED_VALUES; i++) {
		if (!(most >> i & 1))
			mt_value_add(&path->values[i], &values[i], false);
		else if (values[i].value > path->values[i].value)
			path->values[i] = values[i];
	}
}

const struct mt_ended_space *mt_ended_blocks_of(const struct mt_ended_blocks *ended, int32_t pid)
{
	const struct mt_ended_space *found = NULL;

	for (size_t i = 0; i < MT_ENDED_SPACES; i++) {
		const struct mt_ended_space *space = &ended->spaces[i];

		if (space->bytes && space->pid == pid && (!found || space->bytes > found->bytes))
			found = space;
	}
	return found;
}

const struct mt_ended_space *mt_ended_blocks_alike(const struct mt_ended_blocks *ended,
						   const struct mt_ended_space *space)
{
	const struct mt_ended_space *found = NULL;
	uint32_t process = space->paths.items[0].origin.process;

	for (size_t i = 0; i < MT_ENDED_SPACES; i++) {
		const struct mt_ended_space *other = &ended->spaces[i];

		if (other != space && other->bytes && other->bytes >= space->bytes / 2 &&
		    other->paths.items[0].origin.process == process &&
		    (!found || other->bytes > found->bytes))
			found = other;
	}
	return found;
}
