/*
 * JIT code in the map of an address space: once a process maps its jitdump, its executable
 * anonymous memory belongs to the image of that jitdump, era by era.
 */
#ifndef MT_SYMBOLS_JIT_JIT_MAPPINGS_H
#define MT_SYMBOLS_JIT_JIT_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_image;
struct mt_image_map;
struct mt_mapping;

struct mt_jit_mappings {	/* zero-initialised: no jitdump */
	struct mt_image *image; /* has its ->jitdump set; borrowed */
	uint32_t era;		/* the current era, up to era_end */
	uint64_t era_end;
};

/* True if a mapping may be JIT code. */
bool mt_jit_mappings_is_one(const struct mt_mapping *mapping);

/* Assigns a mapping that may be JIT code to the jitdump, if there is one. */
void mt_jit_mappings_place(const struct mt_jit_mappings *made, struct mt_mapping *mapping);

/*
 * Call when the process maps the image's jitdump: assigns its existing mappings. False out of
 * memory.
 */
bool mt_jit_mappings_begin(struct mt_jit_mappings *made, struct mt_image_map *map,
			   struct mt_image *image, uint64_t time);

/* True if the current era ended by `time`. */
static inline bool mt_jit_mappings_is_over(const struct mt_jit_mappings *made, uint64_t time)
{
	return made->image && time >= made->era_end && made->era_end != UINT64_MAX;
}

/* Moves the map to the era of `time`; times do not decrease between calls. False out of memory. */
bool mt_jit_mappings_come_to(struct mt_jit_mappings *made, struct mt_image_map *map, uint64_t time);

#endif
