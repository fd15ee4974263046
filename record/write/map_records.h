/*
 * What a recording's own records tell of mappings, on their way into code_maps.h: for those who
 * need to know on the writing thread which code stood where.
 */
#ifndef MT_RECORD_WRITE_MAP_RECORDS_H
#define MT_RECORD_WRITE_MAP_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_attr;
struct mt_block;
struct mt_code_maps;

/* A record that tells of mappings; borrowed. */
struct mt_told_map {
	uint64_t time;
	uint32_t stream;
	const uint8_t *record;
};

/* Whether a record of a DATA block, whole, is one. */
bool mt_told_map_is_one(const uint8_t *record);

/* What ran already: the TASK and MAP records of a STATE block. */
void mt_map_records_state(struct mt_code_maps *maps, const struct mt_block *block);

/* Sorts them into the order in which a reader has them, and applies them. */
void mt_map_records_apply(struct mt_told_map *told, size_t count, const struct mt_attr *attr,
			  struct mt_code_maps *maps);

#endif
