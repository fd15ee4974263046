/* A perf.data file of one event with hardware call stacks, as perf record writes it. */
#ifndef MT_TESTS_ORACLE_PERF_FILE_H
#define MT_TESTS_ORACLE_PERF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mt_image_map;
struct mt_unwind_input;
struct perf_file;

/*
 * Creates a file of cycles:u with hardware call stacks, and with dumps of `dump_size` bytes if that
 * is not 0. Returns NULL if the file cannot be made.
 */
struct perf_file *perf_file_create(const char *path, size_t dump_size);

/* Adds the executable mappings that are valid from now on. */
void perf_file_map(struct perf_file *file, pid_t pid, const struct mt_image_map *map);

/*
 * Adds a sample one microsecond after the previous one: its ip, branches and, if the file has
 * dumps, registers and dump.
 */
void perf_file_sample(struct perf_file *file, pid_t pid, const struct mt_unwind_input *input);

/* Completes and closes the file; false if writing failed. */
bool perf_file_finish(struct perf_file *file);

#endif
