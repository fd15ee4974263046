/*
 * Which code stood where in each process, at a time: for unwinding while recording. Told what ran
 * already, then what happened, in order of time; until that is settled, it tells of times before
 * it, too.
 *
 * Bounded: a process that exited is forgotten after so many later exits.
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

/* Borrows the set, whose images are what is mapped. NULL out of memory. */
struct mt_code_maps *mt_code_maps_create(struct mt_image_set *images);
void mt_code_maps_destroy(struct mt_code_maps *maps);

/* What ran already. False out of memory. */
bool mt_code_maps_add_task(struct mt_code_maps *maps, const struct mt_task_record *record);
bool mt_code_maps_add_map(struct mt_code_maps *maps, const struct mt_map_record *record);

/*
 * What happened at that time, which is not before that of the last call: COMM, FORK, EXIT, MMAP,
 * MMAP2; other records change nothing. False out of memory.
 */
bool mt_code_maps_apply(struct mt_code_maps *maps, const struct mt_kernel_record *record,
			uint64_t time);

/*
 * The process' map as it was at that time, where that is not settled; an empty one where nobody
 * told of the process. Holds until the next apply or settle.
 */
const struct mt_image_map *mt_code_maps_find(const struct mt_code_maps *maps, int32_t pid,
					     uint64_t time);

/* Nobody asks for the time before what was applied last any more. */
void mt_code_maps_settle(struct mt_code_maps *maps);

/* How many processes are known now. */
size_t mt_code_maps_count(const struct mt_code_maps *maps);

#endif
