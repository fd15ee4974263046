/*
 * The mappings of each process at a time, for unwinding while recording. Takes the existing
 * mappings first, then side-band records in order of time. Until mt_code_maps_settle(), maps before
 * the last record are kept, too.
 *
 * Memory is bounded, because a process is forgotten after a number of later exits.
 */
#ifndef MT_RECORD_WRITE_CODE_MAPS_H
#define MT_RECORD_WRITE_CODE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_code_maps;
struct mt_image_map;
struct mt_image_set;
struct mt_kernel_record;
struct mt_map_record;
struct mt_task_record;

/* Borrows the set, to which it adds the mapped images. NULL out of memory. */
struct mt_code_maps *mt_code_maps_create(struct mt_image_set *images);
void mt_code_maps_destroy(struct mt_code_maps *maps);

/* Adds an existing task or mapping. False out of memory. */
bool mt_code_maps_add_task(struct mt_code_maps *maps, const struct mt_task_record *record);
bool mt_code_maps_add_map(struct mt_code_maps *maps, const struct mt_map_record *record);

/*
 * Applies a COMM, FORK, EXIT, MMAP or MMAP2 record; ignores others. `time` is the time of the
 * record, and not before that of the last call. False out of memory.
 */
bool mt_code_maps_apply(struct mt_code_maps *maps, const struct mt_kernel_record *record,
			uint64_t time);

/*
 * Returns the map of a process at a time that is not settled; an empty map if the process is
 * unknown. The map is valid until the next call of mt_code_maps_apply() or mt_code_maps_settle().
 */
const struct mt_image_map *mt_code_maps_find(const struct mt_code_maps *maps, int32_t pid,
					     uint64_t time);

/* Forgets the maps before the record that was applied last. */
void mt_code_maps_settle(struct mt_code_maps *maps);

/* Returns the number of processes known now. */
size_t mt_code_maps_count(const struct mt_code_maps *maps);

#endif
