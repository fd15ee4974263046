/*
 * Paths for verdicts. If a runtime recompiles a function in another tier, the stacks still have the
 * same path, so that the memory of the path is judged as a whole.
 */
#ifndef MT_REPORT_VERDICTS_TIERLESS_PATHS_H
#define MT_REPORT_VERDICTS_TIERLESS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_frames;
struct mt_stacks;
struct mt_tierless_paths;

/* Borrows both tables. */
struct mt_tierless_paths *mt_tierless_paths_create(const struct mt_stacks *stacks,
						   struct mt_frames *frames);
void mt_tierless_paths_destroy(struct mt_tierless_paths *paths);

/*
 * The path of a stack: its names, with two changes. Consecutive frames of generated code without
 * names, with the runtime's functions around them, become one name. The tier is removed from names
 * ("JS:*load" equals "JS:~load").
 */
uint32_t mt_tierless_paths_of(struct mt_tierless_paths *paths, uint32_t stack);

/*
 * The part of a path from at most `callers` callers of the function `name` up to this function,
 * root first; the whole path if the function is not in it. Borrowed until the next path is looked
 * up.
 */
const uint32_t *mt_tierless_paths_callers(struct mt_tierless_paths *paths, uint32_t stack,
					  uint32_t name, size_t callers, size_t *count);

/* The id of a stack, or of its path, in an address space. */
struct mt_tierless_place {
	uint32_t space, path;
};

/*
 * Completes paths of truncated stacks. A path that is the inner end of longer paths of the space is
 * replaced by the longest of them, if each longer path is the inner end of the next longer one.
 */
void mt_tierless_paths_complete(const struct mt_tierless_paths *paths,
				struct mt_tierless_place *places, size_t count);

/*
 * Replaces the stack in each place's `path` by its path, and completes the paths; without `paths`,
 * by MT_PATH_NONE.
 */
void mt_tierless_paths_find(struct mt_tierless_paths *paths, struct mt_tierless_place *places,
			    size_t count);

#endif
