/*
 * The file behind a mapping of another process: opened while, and however, it can be reached.
 */
#ifndef MT_RECORD_FILES_MAPPED_FILE_H
#define MT_RECORD_FILES_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "formats/records/record.h"

struct mt_mapped_file {
	int32_t pid;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint64_t start, end;
	struct mt_text path; /* as /proc/PID/maps has it */
};

/*
 * Opens the mapped file: through map_files (the very inode, root only), else as the process' own
 * executable, else by path as its process sees it, else by path as we do, where that is the same
 * file; last, what of it is in the process' memory, as a file of ours. -1 with errno, ESTALE where
 * another file stands there.
 */
int mt_mapped_file_open(const struct mt_mapped_file *file, struct stat *status);

/* This process's vdso, the same in every 64-bit process: the kernel's. NULL without one. */
const uint8_t *mt_own_vdso(size_t *size);

#endif
