/*
 * Jitdumps that sampled processes map. Keeps each file open, so that it can be read after the
 * process has ended or the file was deleted, and notes how much of it was carried.
 */
#ifndef MT_RECORD_CARRY_JIT_FILES_H
#define MT_RECORD_CARRY_JIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records/jitdump.h"

struct mt_file_worker;
struct mt_jit_files;
struct mt_mapped_file;

struct mt_jit_file {
	int32_t pid; /* of the process that maps the file */
	struct mt_file_worker *worker;
	int fd;
	char *path; /* from the mapping, like the four fields below */
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	struct mt_jitdump_copy copy;
	uint64_t size;	  /* of the file, when last checked */
	uint64_t carried; /* bytes of the copy */
	uint64_t time;	  /* of the last piece; 0: none */
	bool ended;	  /* nothing more of it is carried */
	uint64_t due, pause;
};

/*
 * unwind, lines: also copy these records, not only names. `worker` is borrowed and may be NULL.
 * Returns NULL out of memory.
 */
struct mt_jit_files *mt_jit_files_create(struct mt_file_worker *worker, bool unwind, bool lines);
void mt_jit_files_destroy(struct mt_jit_files *files);

/* Adds a mapped file; takes fd. False if there are too many files, or out of memory. */
bool mt_jit_files_add(struct mt_jit_files *files, int fd, const struct mt_mapped_file *file);

/*
 * Returns the next file that is due and has grown, borrowed until the next call. Files are due at
 * intervals that grow from 1 to 60 s; `now` is ns of CLOCK_MONOTONIC; at UINT64_MAX all are due.
 * Returns NULL after the last file, and then starts at the first file again.
 */
struct mt_jit_file *mt_jit_files_next_grown(struct mt_jit_files *files, uint64_t now);

/* Makes mt_jit_files_next_grown() start at the first file again. */
void mt_jit_files_rewind(struct mt_jit_files *files);

/* Returns file number i, counted from 0, borrowed; NULL after the last file. */
struct mt_jit_file *mt_jit_files_get(const struct mt_jit_files *files, size_t i);

#endif
