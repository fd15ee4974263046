/*
 * From the addresses of a stack to its id: each address a place in an image, interned.
 */
#ifndef MT_REPORT_STACKS_STACK_IDS_H
#define MT_REPORT_STACKS_STACK_IDS_H

#include <stdint.h>

struct mt_frames;
struct mt_image_map;
struct mt_kernel_names;
struct mt_stacks;
struct mt_stack_ids;
struct mt_walk_words;
struct mt_walked;

/* NULL out of memory. Borrows what it is given. */
struct mt_stack_ids *mt_stack_ids_create(const struct mt_kernel_names *kernel,
					 struct mt_stacks *stacks, struct mt_frames *frames);
void mt_stack_ids_destroy(struct mt_stack_ids *ids);

/* Another recording, of other maps and maybe another kernel, begins. */
void mt_stack_ids_begin(struct mt_stack_ids *ids);

/*
 * The id of the stack that was walked into words, in an address space that looked like this map
 * then; MT_STACK_NONE out of memory.
 */
uint32_t mt_stack_ids_intern(struct mt_stack_ids *ids, const struct mt_image_map *map,
			     const struct mt_walk_words *words, const struct mt_walked *walked);

/*
 * What mt_stack_ids_intern() will do for the next stack, as far as it goes without waiting for
 * memory: its frames are interned. Once, of the stack that is interned next, and of the same words.
 */
void mt_stack_ids_prepare(struct mt_stack_ids *ids, const struct mt_image_map *map,
			  const struct mt_walk_words *words, const struct mt_walked *walked);

/* As mt_byte_runs_prefetch(), for a stack that will be interned so many calls from now. */
void mt_stack_ids_prefetch(const struct mt_stack_ids *ids, const struct mt_walked *walked,
			   unsigned int ahead);

/* The frame of one code address, of the kernel or in that map; MT_FRAME_NONE out of memory. */
uint32_t mt_place_frame(struct mt_frames *frames, const struct mt_kernel_names *kernel,
			const struct mt_image_map *map, uint64_t address);

#endif
