/*
 * The code that a process made itself, in the map of its address space: once it maps a jitdump, its
 * executable memory that is no file's belongs to that, era by era.
 */
#ifndef MT_SYMBOLS_JIT_JIT_MAPPINGS_H
#define MT_SYMBOLS_JIT_JIT_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_image;
struct mt_image_map;
struct mt_mapping;

struct mt_jit_mappings {	/* zero-initialised: no dump tells of it */
	struct mt_image *image; /* what stands for it, its ->jitdump set; borrowed */
	uint32_t era;		/* up to the time: */
	uint64_t era_end;
};

/* Whether a process may have made what is mapped there itself. */
bool mt_jit_mappings_is_one(const struct mt_mapping *mapping);

/* A mapping of such code belongs to the dump from now on, if there is one. */
void mt_jit_mappings_place(const struct mt_jit_mappings *made, struct mt_mapping *mapping);

/*
 * The process maps the dump that this image stands for: what it made before is told of there, too.
 * False out of memory.
 */
bool mt_jit_mappings_begin(struct mt_jit_mappings *made, struct mt_image_map *map,
			   struct mt_image *image, uint64_t time);

/* Whether an era has ended by then. */
static inline bool mt_jit_mappings_is_over(const struct mt_jit_mappings *made, uint64_t time)
{
	return made->image && time >= made->era_end && made->era_end != UINT64_MAX;
}

/*
 * The map is to be that of the time, which is not before that of an earlier call; false likewise.
 */
bool mt_jit_mappings_come_to(struct mt_jit_mappings *made, struct mt_image_map *map, uint64_t time);

#endif
