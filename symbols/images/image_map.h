/*
 * Which image stands where in one address space: an ordered map of address ranges to images. A
 * later mapping replaces what it overlaps, as the kernel does. The generation changes when code
 * that stood somewhere no longer does, so that a cache keyed by (pc, generation) need not be told.
 *
 * One thread changes a map; others may read copies of it meanwhile.
 */
#ifndef MT_SYMBOLS_IMAGES_IMAGE_MAP_H
#define MT_SYMBOLS_IMAGES_IMAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_image;
struct mt_image_map;

struct mt_mapping {
	uint64_t start;
	uint64_t end;		/* one past the last byte */
	uint64_t offset;	/* of start in the file, bytes */
	uint32_t prot;		/* PROT_* */
	uint32_t era;		/* of an image with a jitdump: which of its code stands there */
	struct mt_image *image; /* borrowed; never NULL in a map */
};

/* NULL out of memory. */
struct mt_image_map *mt_image_map_create(void);
void mt_image_map_destroy(struct mt_image_map *map);

/*
 * A copy for a forked child, sharing the mappings of its parent and its generation until the code
 * of one of them changes; NULL out of memory. Cheap: thousands of forks cost thousands of small
 * allocations, and each change to one of them some more.
 */
struct mt_image_map *mt_image_map_copy(struct mt_image_map *map);

/*
 * The map as it is now, to be read by other threads while it changes: equal ones are one, counted.
 * Of its generation, which a copy is not for ever. Nobody changes a snapshot; it is given back with
 * mt_image_map_release(). NULL out of memory. Taking and giving back are for the one thread that
 * changes the map.
 */
struct mt_image_map *mt_image_map_snapshot(struct mt_image_map *map);
void mt_image_map_release(struct mt_image_map *snapshot);

/*
 * Puts a mapping in, trimming or splitting what it overlaps. One that an equal mapping already
 * covers changes nothing, and neither does an empty one. False out of memory, with the map as it
 * was.
 */
bool mt_image_map_insert(struct mt_image_map *map, const struct mt_mapping *mapping);

/* Takes [start, end) out. False out of memory (a split needs room), with the map as it was. */
bool mt_image_map_remove(struct mt_image_map *map, uint64_t start, uint64_t end);

/*
 * All mappings of an image are of that era from now on. False out of memory, with the map as it
 * was.
 */
bool mt_image_map_set_era(struct mt_image_map *map, const struct mt_image *image, uint32_t era);

/* Empties it: exec. */
void mt_image_map_clear(struct mt_image_map *map);

/* The mapping that covers addr, or NULL; holds until the map changes. */
const struct mt_mapping *mt_image_map_find(const struct mt_image_map *map, uint64_t addr);

/*
 * The first mapping that ends after addr, or NULL; holds until the map changes. All of them, in
 * address order: from 0 on, then from the end of each.
 */
const struct mt_mapping *mt_image_map_next(const struct mt_image_map *map, uint64_t addr);

/* How many mappings there are. */
size_t mt_image_map_count(const struct mt_image_map *map);

/*
 * Names the code of this address space, uniquely in the process: while two maps have the same
 * generation (or one map at two times), an address that an executable mapping covers in both has
 * the same image and file offset in both. So what is cached by (pc, generation) stays right for
 * ever - if it was found in an executable mapping. That no mapping covers an address, or that the
 * one there is not executable, must not be cached: a library loaded into empty space is no new
 * generation, for the cache would be lost with each of the five libraries that a program starts
 * with.
 *
 * What makes a new generation: an executable range replaced or removed (also by a mapping of data),
 * exec, and a library loaded by a map that shares its generation with a copy, since the other may
 * load another one there. What does not: brk, heaps, stacks, files mapped for reading, however
 * many. Starts at 1, never 0.
 */
uint32_t mt_image_map_generation(const struct mt_image_map *map);

/*
 * Names the whole of the map: while two maps have the same version, all is the same in both. What
 * must not be cached by the generation may be by this one, which every change makes new. No number
 * is both a version and a generation, so one table can hold what is kept by either.
 */
uint32_t mt_image_map_version(const struct mt_image_map *map);

/*
 * Link-time address of addr within its mapping's image, through the file offset and the ELF's
 * segments. Without ELF bytes, or for anonymous memory, false.
 */
bool mt_mapping_vaddr(const struct mt_mapping *mapping, uint64_t addr, uint64_t *vaddr);

/* File offset of addr within its mapping. */
static inline uint64_t mt_mapping_file_offset(const struct mt_mapping *mapping, uint64_t addr)
{
	return addr - mapping->start + mapping->offset;
}

#endif
