/*
 * Stacks and paths, both interned runs of ids.
 */
#include "report/stacks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "formats/base/array.h"
#include "report/frames.h"
#include "report/sequences.h"

struct mt_stacks {
	struct mt_sequences *runs;
};

struct mt_stacks *mt_stacks_create(void)
{
	struct mt_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->runs = mt_sequences_create();
	if (!stacks->runs) {
		free(stacks);
		return NULL;
	}
	return stacks;
}

void mt_stacks_destroy(struct mt_stacks *stacks)
{
	if (!stacks)
		return;
	mt_sequences_destroy(stacks->runs);
	free(stacks);
}

uint32_t mt_stacks_intern(struct mt_stacks *stacks, const uint32_t *frames, size_t count)
{
	return mt_sequences_intern(stacks->runs, frames, count * sizeof(*frames));
}

const uint32_t *mt_stacks_get(const struct mt_stacks *stacks, uint32_t id, size_t *count)
{
	size_t size;
	const uint32_t *frames = mt_sequences_get(stacks->runs, id, &size);

	*count = size / sizeof(*frames);
	return frames;
}

size_t mt_stacks_count(const struct mt_stacks *stacks)
{
	return mt_sequences_count(stacks->runs);
}

struct mt_paths {
	const struct mt_stacks *stacks;
	struct mt_frames *frames;
	struct mt_sequences *runs;
	MT_ARRAY(uint32_t) of_stack; /* path of each stack, MT_PATH_NONE: not yet made */
	MT_ARRAY(uint32_t) scratch;
};

struct mt_paths *mt_paths_create(const struct mt_stacks *stacks, struct mt_frames *frames)
{
	struct mt_paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		return NULL;
	paths->stacks = stacks;
	paths->frames = frames;
	paths->runs = mt_sequences_create();
	if (!paths->runs) {
		free(paths);
		return NULL;
	}
	return paths;
}

void mt_paths_destroy(struct mt_paths *paths)
{
	if (!paths)
		return;
	mt_sequences_destroy(paths->runs);
	mt_array_deinit(&paths->of_stack);
	mt_array_deinit(&paths->scratch);
	free(paths);
}

/* Puts the names of a stack into the scratch array, root first. */
static bool spell(struct mt_paths *paths, uint32_t stack)
{
	size_t depth, names;
	const uint32_t *frames = mt_stacks_get(paths->stacks, stack, &depth);

	paths->scratch.count = 0;
	while (depth--) {
		const struct mt_frame_name *name =
			mt_frames_names(paths->frames, frames[depth], &names);

		if (!name || !mt_array_reserve(&paths->scratch, paths->scratch.count + names))
			return false;
		while (names--)
			paths->scratch.items[paths->scratch.count++] = name[names].name;
	}
	return true;
}

uint32_t mt_paths_of(struct mt_paths *paths, uint32_t stack)
{
	size_t known = mt_stacks_count(paths->stacks);
	uint32_t *path;

	if (stack >= paths->of_stack.count) {
		if (!mt_array_reserve(&paths->of_stack, known))
			return MT_PATH_NONE;
		while (paths->of_stack.count < known)
			paths->of_stack.items[paths->of_stack.count++] = MT_PATH_NONE;
	}
	path = &paths->of_stack.items[stack];
	if (*path == MT_PATH_NONE && spell(paths, stack))
		*path = mt_sequences_intern(paths->runs, paths->scratch.items,
					    paths->scratch.count * sizeof(uint32_t));
	return *path;
}

const uint32_t *mt_paths_get(const struct mt_paths *paths, uint32_t path, size_t *count)
{
	size_t size;
	const uint32_t *names = mt_sequences_get(paths->runs, path, &size);

	*count = size / sizeof(*names);
	return names;
}
