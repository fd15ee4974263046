/*
 * Readings of /proc/PID/smaps, which mtrec makes at its start and end for requested processes. Each
 * reading has the mappings of a process.
 */
#ifndef MT_REPORT_RESIDENCE_MAPPING_READINGS_H
#define MT_REPORT_RESIDENCE_MAPPING_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_gauge_record;

enum mt_mapping_size {
	MT_MAPPING_RESIDENT,
	MT_MAPPING_DIRTY,
	MT_MAPPING_SWAPPED,
	MT_MAPPING_HUGE,
	MT_MAPPING_SIZES
};

/* One mapping in a reading of a process's smaps. */
struct mt_mapping_reading {
	uint32_t recording;
	int32_t pid;
	uint64_t before, after; /* `before` is the same for all mappings of a reading */
	uint64_t start, end;
	double bytes[MT_MAPPING_SIZES];
};

/* A zero-initialized set has no readings. */
struct mt_mapping_readings {
	MT_ARRAY(struct mt_mapping_reading) items;
};

/* The mappings of one reading, by address; borrowed until the next gauge is taken. */
struct mt_mapping_list {
	const struct mt_mapping_reading *items;
	size_t count; /* 0: no reading */
};

void mt_mapping_readings_deinit(struct mt_mapping_readings *readings);

/* Takes a gauge of a mapping; ignores other gauges. */
void mt_mapping_readings_take(struct mt_mapping_readings *readings, uint32_t recording,
			      const struct mt_gauge_record *gauge);

/* The first reading of a process, and the reading nearest to a moment, within a second. */
struct mt_mapping_list mt_mapping_readings_first(const struct mt_mapping_readings *readings,
						 uint32_t recording, int32_t pid);
struct mt_mapping_list mt_mapping_readings_near(const struct mt_mapping_readings *readings,
						uint32_t recording, int32_t pid, uint64_t time);

/* The first mapping that ends after the address; NULL if there is none. */
const struct mt_mapping_reading *mt_mapping_list_after(const struct mt_mapping_list *list,
						       uint64_t address);

#endif
