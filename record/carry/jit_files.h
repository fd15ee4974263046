/*
 * Jitdumps that sampled processes map, kept open from then on, so that they can be read when the
 * process, or the file's name, is gone; and how much of each is carried.
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
	int32_t pid; /* who mapped it */
	struct mt_file_worker *worker;
	int fd;
	char *path; /* as it is mapped, as are: */
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	struct mt_jitdump_copy copy;
	uint64_t size;	  /* of the file, when it was last looked at */
	uint64_t carried; /* bytes of the copy */
	uint64_t time;	  /* of the last piece; 0: there is none */
	bool ended;	  /* nothing more of it is carried */
	uint64_t due, pause;
};

/* What beside names is copied, and who reads them, borrowed, or NULL. NULL out of memory. */
struct mt_jit_files *mt_jit_files_create(struct mt_file_worker *worker, bool unwind, bool lines);
void mt_jit_files_destroy(struct mt_jit_files *files);

/* Takes fd, which is a file that is mapped so; false where there are too many. */
bool mt_jit_files_add(struct mt_jit_files *files, int fd, const struct mt_mapped_file *file);

/*
 * The next one that is due (now is CLOCK_MONOTONIC's, ns; UINT64_MAX: whatever is), at pauses from
 * 1 to 60 s, and has grown; borrowed until the next call. NULL, and from the first on again, behind
 * the last.
 */
struct mt_jit_file *mt_jit_files_next_grown(struct mt_jit_files *files, uint64_t now);

/* That begins with the first again. */
void mt_jit_files_rewind(struct mt_jit_files *files);

/* Number i, counted from 0; NULL behind the last. */
struct mt_jit_file *mt_jit_files_get(const struct mt_jit_files *files, size_t i);

#endif
