/*
 * Stacks as reports compare them: runs of frame ids, interned, so that two samples have the same
 * stack where their ids are equal; and the paths of function names that outputs show.
 */
#ifndef MT_REPORT_STACKS_STACKS_H
#define MT_REPORT_STACKS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_frames;
struct mt_paths;
struct mt_stacks;

#define MT_STACK_NONE UINT32_MAX

/* NULL out of memory. */
struct mt_stacks *mt_stacks_create(void);
void mt_stacks_destroy(struct mt_stacks *stacks);

/* The id of a stack of frame ids, innermost first; MT_STACK_NONE out of memory. */
uint32_t mt_stacks_intern(struct mt_stacks *stacks, const uint32_t *frames, size_t count);

/*
 * The same in two steps, with something to do between them: the first asks memory for where the
 * stack belongs and gives what the second is told beside it.
 */
uint32_t mt_stacks_prepare(const struct mt_stacks *stacks, const uint32_t *frames, size_t count);
uint32_t mt_stacks_intern_prepared(struct mt_stacks *stacks, const uint32_t *frames, size_t count,
				   uint32_t prepared);

/* Borrows the frame ids of a stack, innermost first; holds as long as the table. */
const uint32_t *mt_stacks_get(const struct mt_stacks *stacks, uint32_t id, size_t *count);
size_t mt_stacks_count(const struct mt_stacks *stacks);

/*
 * Paths of names: what several stacks have in common once call sites within a function no longer
 * count.
 */

#define MT_PATH_NONE UINT32_MAX

/*
 * NULL out of memory. Borrows both tables. srcline: a name is followed by " FILE:LINE" where that
 * is known.
 */
struct mt_paths *mt_paths_create(const struct mt_stacks *stacks, struct mt_frames *frames,
				 bool srcline);
void mt_paths_destroy(struct mt_paths *paths);

/*
 * Borrows the names of a stack's path, root first, until the next call; NULL out of memory. For who
 * needs no id, and in no way bound to what has one. *same: so many of the first names are those of
 * the last path that was spelled.
 */
const uint32_t *mt_paths_spell(struct mt_paths *paths, uint32_t stack, size_t *count, size_t *same);

/*
 * The path of a stack; MT_PATH_NONE out of memory. Names the stack's frames where that was not
 * done.
 */
uint32_t mt_paths_of(struct mt_paths *paths, uint32_t stack);

/*
 * Borrows the names of a path, root first: ids in mt_frames_strings(). Empty for a stack without
 * frames.
 */
const uint32_t *mt_paths_get(const struct mt_paths *paths, uint32_t path, size_t *count);

#endif
