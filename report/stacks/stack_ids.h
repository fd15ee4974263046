/* Converts the addresses of a stack to interned frames, and the frames to a stack id. */
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

/* Borrows all arguments. */
struct mt_stack_ids *mt_stack_ids_create(const struct mt_kernel_names *kernel,
					 struct mt_stacks *stacks, struct mt_frames *frames);
void mt_stack_ids_destroy(struct mt_stack_ids *ids);

/* The id of a walked stack in an address space with this map. */
uint32_t mt_stack_ids_intern(struct mt_stack_ids *ids, const struct mt_image_map *map,
			     const struct mt_walk_words *words, const struct mt_walked *walked);

#endif
