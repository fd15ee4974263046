/*
 * Samples for measuring the unwinder: registers, dumps and mappings of one process, read from a
 * perf.data file in file mode that `perf record --call-graph dwarf` wrote on this machine. For
 * tests only: the reader trusts the file's structure.
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
	struct mt_image_map *map; /* mappings at the end, of the process with the most samples */
	struct mt_unwind_input *inputs;
	size_t count;
	uint32_t pid;
	uint64_t lost; /* lost records of any kind: mappings may be missing */
	void *file;    /* memory that the inputs borrow */
	size_t file_size;
};

/* Exits with a message if the file cannot be read. */
void samples_load(const char *path, struct samples *out);
void samples_deinit(struct samples *samples);

#endif
