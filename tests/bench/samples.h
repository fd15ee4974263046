/*
 * Samples for measuring the unwinder: registers, dumps and mappings of one process, taken from a
 * perf.data file in file mode as `perf record --call-graph dwarf` of this machine writes it. A
 * test's reader: it trusts the file's structure.
 */
#ifndef MT_TESTS_BENCH_SAMPLES_H
#define MT_TESTS_BENCH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

struct mt_image_map;
struct mt_image_set;

struct samples {
	struct mt_image_set *images;
	struct mt_image_map *map; /* of the process with the most samples, as it stood at the end */
	struct mt_unwind_input *inputs;
	size_t count;
	uint32_t pid;
	uint64_t lost; /* records of any kind: what was mapped may not be known */
	void *file;    /* what the inputs borrow from */
	size_t file_size;
};

/* Exits with a message where the file cannot be read. */
void samples_load(const char *path, struct samples *out);
void samples_deinit(struct samples *samples);

#endif
