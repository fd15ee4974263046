/*
 * The mappings of one address space, ordered by address. A new mapping replaces those that it
 * overlaps, as in the kernel. The generation changes when code is replaced or removed, so that a
 * cache keyed by (pc, generation) needs no invalidation.
 *
 * One thread changes a map; other threads may read its snapshots meanwhile.
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
	uint64_t end;		/* exclusive */
	uint64_t offset;	/* file offset of start, in bytes */
	uint32_t prot;		/* PROT_* */
	uint32_t era;		/* of an image with a jitdump: the era of its code */
	struct mt_image *image; /* borrowed; never NULL in a map */
};

/* NULL out of memory. */
struct mt_image_map *mt_image_map_create(void);
void mt_image_map_destroy(struct mt_image_map *map);

/*
 * A copy for a forked child. The copy shares the mappings of its parent, and the generation until
 * code of one of the two changes. NULL out of memory. A copy costs a small allocation, a later
 * change a few more.
 */
struct mt_image_map *mt_image_map_copy(struct mt_image_map *map);

/*
 * A read-only, reference-counted snapshot for other threads; equal snapshots are shared. A snapshot
 * has the map's generation, which a copy may lose. Free with mt_image_map_release(). NULL out of
 * memory. Only the thread that changes the map may take and release snapshots.
 */
struct mt_image_map *mt_image_map_snapshot(struct mt_image_map *map);
void mt_image_map_release(struct mt_image_map *snapshot);

/*
 * Inserts a mapping; trims or splits those that it overlaps. An empty mapping, or one that an equal
 * mapping covers, changes nothing. False out of memory, with the map unchanged.
 */
bool mt_image_map_insert(struct mt_image_map *map, const struct mt_mapping *mapping);

/* Removes [start, end). False out of memory (a split allocates), with the map unchanged. */
bool mt_image_map_remove(struct mt_image_map *map, uint64_t start, uint64_t end);

/* Sets the era of all mappings of an image. False out of memory, with the map unchanged. */
bool mt_image_map_set_era(struct mt_image_map *map, const struct mt_image *image, uint32_t era);

/* Removes all mappings, at exec. */
void mt_image_map_clear(struct mt_image_map *map);

/* The mapping that covers addr, or NULL; valid until the map changes. */
const struct mt_mapping *mt_image_map_find(const struct mt_image_map *map, uint64_t addr);

/*
 * The first mapping that ends after addr, or NULL; valid until the map changes. To iterate, start
 * at 0 and continue at the end of each mapping.
 */
const struct mt_mapping *mt_image_map_next(const struct mt_image_map *map, uint64_t addr);

/* Number of mappings. */
size_t mt_image_map_count(const struct mt_image_map *map);

/*
 * The generation of this address space's code, unique in the process and never 0.
 *
 * 1. If two maps (or one map at two times) have the same generation, an address that an executable
 *    mapping covers in both has the same image and file offset in both. So a result cached by (pc,
 *    generation) stays valid for ever if it was found in an executable mapping.
 * 2. Other results (no mapping, or not executable) must not be cached by it: a library loaded into
 *    empty space does not change the generation. Else the cache would be lost with each library
 *    that a program loads at its start.
 * 3. These change it: replacing or removing an executable range (also by a mapping of data), exec,
 *    and loading a library in a map that shares its generation with a copy, which may load another
 *    one there.
 * 4. These do not: brk, heaps, stacks and mappings of data, however many.
 */
uint32_t mt_image_map_generation(const struct mt_image_map *map);

/*
 * The version of the whole map: maps with the same version are equal. Every change makes a new
 * version, so results that must not be cached by generation can be cached by version. No version
 * equals a generation, so one table can have keys of the two kinds.
 */
uint32_t mt_image_map_version(const struct mt_image_map *map);

/*
 * Link-time address of addr, by the mapping's file offset and the ELF segments. False without an
 * ELF file, and for anonymous memory.
 */
bool mt_mapping_vaddr(const struct mt_mapping *mapping, uint64_t addr, uint64_t *vaddr);

/* File offset of addr in its mapping. */
static inline uint64_t mt_mapping_file_offset(const struct mt_mapping *mapping, uint64_t addr)
{
	return addr - mapping->start + mapping->offset;
}

#endif
