/* Stacks and paths are interned sequences of ids. */
#include "report/stacks/stacks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/stacks/frames.h"
#include "report/tables/byte_runs.h"

struct mt_stacks {
	struct mt_byte_runs *runs;
	MT_ARRAY(uint32_t) programs; /* by id, up to the last one set */
	MT_ARRAY(uint32_t) joined;   /* by id, up to the last one set; UINT32_MAX: not set */
};

struct mt_stacks *mt_stacks_create(void)
{
	struct mt_stacks *stacks = mt_alloc(1, sizeof(*stacks));

	stacks->runs = mt_byte_runs_create();
	return stacks;
}

void mt_stacks_destroy(struct mt_stacks *stacks)
{
	if (!stacks)
		return;
	mt_byte_runs_destroy(stacks->runs);
	mt_array_deinit(&stacks->programs);
	mt_array_deinit(&stacks->joined);
	free(stacks);
}

uint32_t mt_stacks_intern(struct mt_stacks *stacks, const uint32_t *frames, size_t count)
{
	return mt_byte_runs_intern(stacks->runs, frames, count * sizeof(*frames));
}

const uint32_t *mt_stacks_get(const struct mt_stacks *stacks, uint32_t id, size_t *count)
{
	size_t size;
	const uint32_t *frames = mt_byte_runs_get(stacks->runs, id, &size);

	*count = size / sizeof(*frames);
	return frames;
}

size_t mt_stacks_count(const struct mt_stacks *stacks)
{
	return mt_byte_runs_count(stacks->runs);
}

void mt_stacks_set_program(struct mt_stacks *stacks, uint32_t id, uint32_t program)
{
	if (program && !*mt_array_at(&stacks->programs, id))
		stacks->programs.items[id] = program;
}

uint32_t mt_stacks_program(const struct mt_stacks *stacks, uint32_t id)
{
	return id < stacks->programs.count ? stacks->programs.items[id] : 0;
}

void mt_stacks_set_joined(struct mt_stacks *stacks, uint32_t id, uint32_t frames)
{
	mt_array_reserve(&stacks->joined, (size_t)id + 1);
	while (stacks->joined.count <= id)
		stacks->joined.items[stacks->joined.count++] = UINT32_MAX;
	if (frames < stacks->joined.items[id])
		stacks->joined.items[id] = frames;
}

uint32_t mt_stacks_joined(const struct mt_stacks *stacks, uint32_t id)
{
	uint32_t frames = id < stacks->joined.count ? stacks->joined.items[id] : UINT32_MAX;

	return frames == UINT32_MAX ? 0 : frames;
}

struct mt_paths {
	const struct mt_stacks *stacks;
	struct mt_frames *frames;
	struct mt_byte_runs *runs;
	MT_ARRAY(uint32_t) of_stack; /* path of each stack; MT_PATH_NONE: not yet looked up */
	MT_ARRAY(uint32_t) scratch;
	MT_ARRAY(uint32_t) only; /* by frame: its name if it has only one, or MT_STRING_NONE */
	uint32_t last;		 /* stack whose names are in scratch, or MT_STACK_NONE */
	size_t last_only;	 /* number of outermost frames of `last` that have one name each */
	bool srcline;		 /* names are spelled with their lines */
};

struct mt_paths *mt_paths_create(const struct mt_stacks *stacks, struct mt_frames *frames,
				 bool srcline)
{
	struct mt_paths *paths = mt_alloc(1, sizeof(*paths));

	paths->stacks = stacks;
	paths->frames = frames;
	paths->srcline = srcline;
	paths->last = MT_STACK_NONE;
	paths->runs = mt_byte_runs_create();
	return paths;
}

void mt_paths_destroy(struct mt_paths *paths)
{
	if (!paths)
		return;
	mt_byte_runs_destroy(paths->runs);
	mt_array_deinit(&paths->of_stack);
	mt_array_deinit(&paths->scratch);
	mt_array_deinit(&paths->only);
	free(paths);
}

/* The id of "NAME FILE:LINE", FILE without directories, as in perf's srcline; or of the name. */
static uint32_t spell_line(const struct mt_paths *paths, const struct mt_frame_name *name)
{
	struct mt_strings *strings = mt_frames_strings(paths->frames);
	MT_CLEANUP_FREE char *text = NULL;
	const char *slash;

	if (!paths->srcline || !name->file)
		return name->name;
	slash = strrchr(name->file, '/');
	text = mt_format("%s %s:%u", mt_strings_get(strings, name->name),
			 slash ? slash + 1 : name->file, name->line);
	return mt_strings_intern(strings, text, strlen(text));
}

/* Appends the names of a frame, the outermost first. */
static void spell_frame(struct mt_paths *paths, uint32_t frame)
{
	size_t names;
	const struct mt_frame_name *name = mt_frames_names(paths->frames, frame, &names);
	bool only = names == 1;

	mt_array_reserve(&paths->scratch, paths->scratch.count + names);
	while (names--) {
		uint32_t spelled = spell_line(paths, &name[names]);

		paths->scratch.items[paths->scratch.count++] = spelled;
		paths->only.items[frame] = only ? spelled : MT_STRING_NONE;
	}
}

/*
 * Looks up the names of all new frames that have one name. Names are stored in the order of
 * addresses, so the names of one stack are far apart in memory. In this loop, the cache misses do
 * not wait for each other.
 */
static void reserve_frames(struct mt_paths *paths)
{
	size_t count = mt_frames_count(paths->frames), from = paths->only.count;

	mt_array_reserve(&paths->only, count);
	for (size_t i = from; i < count; i++) {
		const struct mt_frame_name *name =
			paths->srcline ? NULL : mt_frames_only_name(paths->frames, (uint32_t)i);

		paths->only.items[i] = name ? name->name : MT_STRING_NONE;
	}
	paths->only.count = count;
}

/* The number of frames that two stacks share at their outer ends, up to a limit. */
static size_t common_outer(const uint32_t *a_end, const uint32_t *b_end, size_t most)
{
	size_t n = 0;

	while (n + 8 <= most && !memcmp(a_end - n - 8, b_end - n - 8, 8 * sizeof(*a_end)))
		n += 8;
	while (n < most && a_end[-1 - (ptrdiff_t)n] == b_end[-1 - (ptrdiff_t)n])
		n++;
	return n;
}

/* The number of outer frames that have one name each, which is already in scratch. */
static size_t spelled_before(const struct mt_paths *paths, const uint32_t *frames, size_t depth)
{
	size_t last_depth;
	const uint32_t *last;

	if (paths->last == MT_STACK_NONE)
		return 0;
	last = mt_stacks_get(paths->stacks, paths->last, &last_depth);
	return common_outer(frames + depth, last + last_depth,
			    depth < paths->last_only ? depth : paths->last_only);
}

/* Spells all frames except the outermost `same` ones, whose names are in scratch. */
static void spell_others(struct mt_paths *paths, const uint32_t *frames, size_t depth, size_t same)
{
	bool only = true;

	paths->scratch.count = paths->last_only = same;
	for (size_t left = depth - same; left--;) {
		uint32_t name = paths->only.items[frames[left]];

		if (name != MT_STRING_NONE) {
			paths->scratch.items[paths->scratch.count++] = name;
		} else {
			spell_frame(paths, frames[left]);
			mt_array_reserve(&paths->scratch, paths->scratch.count + left);
		}
		only &= paths->only.items[frames[left]] != MT_STRING_NONE;
		paths->last_only += only;
	}
}

const uint32_t *mt_paths_spell(struct mt_paths *paths, uint32_t stack, size_t *count, size_t *same)
{
	size_t depth, known;
	const uint32_t *frames = mt_stacks_get(paths->stacks, stack, &depth);

	reserve_frames(paths);
	mt_array_reserve(&paths->scratch, depth + 1);
	known = spelled_before(paths, frames, depth);
	spell_others(paths, frames, depth, known);
	paths->last = stack;
	*count = paths->scratch.count;
	*same = known;
	return paths->scratch.items;
}

uint32_t mt_paths_of(struct mt_paths *paths, uint32_t stack)
{
	size_t known = mt_stacks_count(paths->stacks), count, same;
	const uint32_t *names;
	uint32_t *path;

	mt_array_reserve(&paths->of_stack, known);
	while (paths->of_stack.count < known)
		paths->of_stack.items[paths->of_stack.count++] = MT_PATH_NONE;
	path = &paths->of_stack.items[stack];
	if (*path != MT_PATH_NONE)
		return *path;
	names = mt_paths_spell(paths, stack, &count, &same);
	*path = mt_byte_runs_intern(paths->runs, names, count * sizeof(*names));
	return *path;
}

const uint32_t *mt_paths_get(const struct mt_paths *paths, uint32_t path, size_t *count)
{
	size_t size;
	const uint32_t *names = mt_byte_runs_get(paths->runs, path, &size);

	*count = size / sizeof(*names);
	return names;
}
