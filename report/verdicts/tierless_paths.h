/*
 * Paths for verdicts: stacks of one path whatever code a runtime made of its functions meanwhile.
 * The memory of one path is judged as a whole, also where its JIT code was compiled anew.
 */
#ifndef MT_REPORT_VERDICTS_TIERLESS_PATHS_H
#define MT_REPORT_VERDICTS_TIERLESS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_frames;
struct mt_stacks;
struct mt_tierless_paths;

/* NULL out of memory. Borrows both tables. */
struct mt_tierless_paths *mt_tierless_paths_create(const struct mt_stacks *stacks,
						   struct mt_frames *frames);
void mt_tierless_paths_destroy(struct mt_tierless_paths *paths);

/*
 * The path of a stack: its names, where each run of generated code without names, with the
 * runtime's ways into and out of it, is one, and a tier is no part of a name ("JS:*load" is
 * "JS:~load"). MT_PATH_NONE out of memory.
 */
uint32_t mt_tierless_paths_of(struct mt_tierless_paths *paths, uint32_t stack);

/*
 * The same path from so many callers of the function `name` to that function, root first; all of it
 * where it does not have that function. NULL out of memory; borrowed until the next path.
 */
const uint32_t *mt_tierless_paths_callers(struct mt_tierless_paths *paths, uint32_t stack,
					  uint32_t name, size_t callers, size_t *count);

/* A path in one address space. */
struct mt_tierless_place {
	uint32_t space, path;
};

/*
 * Completes paths of stacks that were cut short: a path that is the inner end of longer paths of
 * its space becomes the longest of them, where each of them is the inner end of the next. False
 * out of memory.
 */
bool mt_tierless_paths_complete(const struct mt_tierless_paths *paths,
				struct mt_tierless_place *places, size_t count);

#endif
