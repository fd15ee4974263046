/*
 * Interned stacks: two samples have the same stack if their stack ids are equal. Also paths: stacks
 * as lists of function names, as outputs show them.
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

/* Creates an empty table. The caller destroys it. */
struct mt_stacks *mt_stacks_create(void);
void mt_stacks_destroy(struct mt_stacks *stacks);

/* The id of a stack of frame ids, innermost first. */
uint32_t mt_stacks_intern(struct mt_stacks *stacks, const uint32_t *frames, size_t count);

/* Borrows a stack's frame ids, innermost first, as long as the table. */
const uint32_t *mt_stacks_get(const struct mt_stacks *stacks, uint32_t id, size_t *count);
size_t mt_stacks_count(const struct mt_stacks *stacks);

/*
 * The program of a process with this stack: a string id that the caller defines; 0: none. If it is
 * set several times, the first one is kept.
 */
void mt_stacks_set_program(struct mt_stacks *stacks, uint32_t id, uint32_t program);
uint32_t mt_stacks_program(const struct mt_stacks *stacks, uint32_t id);

/*
 * How many outermost frames of a sample came from other stacks of the thread. The minimum over all
 * samples with this stack is kept.
 */
void mt_stacks_set_joined(struct mt_stacks *stacks, uint32_t id, uint32_t frames);
uint32_t mt_stacks_joined(const struct mt_stacks *stacks, uint32_t id);

/* Paths of names: stacks that differ only in call sites within the same functions have one path. */

#define MT_PATH_NONE UINT32_MAX

/* Borrows both tables. srcline: names are followed by " FILE:LINE" if known. */
struct mt_paths *mt_paths_create(const struct mt_stacks *stacks, struct mt_frames *frames,
				 bool srcline);
void mt_paths_destroy(struct mt_paths *paths);

/*
 * Returns a stack's path without interning it: name ids, root first, borrowed until the next call.
 * The first *same names equal those of the previous call.
 */
const uint32_t *mt_paths_spell(struct mt_paths *paths, uint32_t stack, size_t *count, size_t *same);

/* The path of a stack. Names the frames on first use. */
uint32_t mt_paths_of(struct mt_paths *paths, uint32_t stack);

/*
 * Borrows a path's names, root first, as ids in mt_frames_strings(). The path of a stack without
 * frames is empty.
 */
const uint32_t *mt_paths_get(const struct mt_paths *paths, uint32_t path, size_t *count);

#endif
