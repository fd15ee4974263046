/* A perf.data file of one event with branch records, as perf record -b writes it. */
#ifndef MT_TESTS_ORACLE_PERF_FILE_H
#define MT_TESTS_ORACLE_PERF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_branch;
struct mt_image_map;
struct perf_file;

/* cycles:u with these branch_sample_type bits; NULL where the file cannot be made. */
struct perf_file *perf_file_create(const char *path, uint64_t branch_type);

/* What is mapped executable from now on. */
void perf_file_map(struct perf_file *file, pid_t pid, const struct mt_image_map *map);

/* One sample, a microsecond behind the one before; index: of the newest branch's register. */
void perf_file_sample(struct perf_file *file, pid_t pid, uint64_t ip,
		      const struct mt_branch *branches, size_t count, uint64_t index);

/* Completes and closes it; false where writing failed. */
bool perf_file_finish(struct perf_file *file);

#endif
