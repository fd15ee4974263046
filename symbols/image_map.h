/*
 * Which image stands where in one address space: an ordered map of address ranges to images. A later mapping
 * replaces what it overlaps, as the kernel does. The generation changes when an executable range changes, so that a
 * cache keyed by (pc, generation) need not be told.
 */
#ifndef MT_SYMBOLS_IMAGE_MAP_H
#define MT_SYMBOLS_IMAGE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_image;
struct mt_image_map;

struct mt_mapping {
	uint64_t start;
	uint64_t end;	 /* one past the last byte */
	uint64_t offset; /* of start in the file, bytes */
	uint32_t prot;	 /* PROT_* */
	struct mt_image *image; /* borrowed; never NULL in a map */
};

/* NULL out of memory. */
struct mt_image_map *mt_image_map_create(void);
void mt_image_map_destroy(struct mt_image_map *map);

/* A copy for a forked child, sharing the generation of its parent until one of them changes; NULL out of memory. */
struct mt_image_map *mt_image_map_copy(const struct mt_image_map *map);

/* Puts a mapping in, trimming or splitting what it overlaps. An identical mapping changes nothing. False out of memory. */
bool mt_image_map_insert(struct mt_image_map *map, const struct mt_mapping *mapping);

/* Takes [start, end) out. False out of memory (a split needs room). */
bool mt_image_map_remove(struct mt_image_map *map, uint64_t start, uint64_t end);

/* Empties it: exec. */
void mt_image_map_clear(struct mt_image_map *map);

/* The mapping that covers addr, or NULL; holds until the map changes. */
const struct mt_mapping *mt_image_map_find(const struct mt_image_map *map, uint64_t addr);

/* All mappings in address order; holds until the map changes. */
const struct mt_mapping *mt_image_map_all(const struct mt_image_map *map, size_t *count);

/*
 * Unique in the process among all maps that differ in an executable range: two maps with the same generation have the
 * same code at the same addresses. Starts at 1, never 0.
 */
uint32_t mt_image_map_generation(const struct mt_image_map *map);

/*
 * Link-time address of addr within its mapping's image, through the file offset and the ELF's segments. Without ELF bytes,
 * or for anonymous memory, false.
 */
bool mt_mapping_vaddr(const struct mt_mapping *mapping, uint64_t addr, uint64_t *vaddr);

/* File offset of addr within its mapping. */
static inline uint64_t mt_mapping_file_offset(const struct mt_mapping *mapping, uint64_t addr)
{
	return addr - mapping->start + mapping->offset;
}

#endif
