/* Opens the file of a mapping of another process, by the first way that works. */
#ifndef MT_RECORD_FILES_MAPPED_FILE_H
#define MT_RECORD_FILES_MAPPED_FILE_H

#include <stdbool.h>
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
 * Opens the mapped file by the first of these that works:
 *
 * 1. /proc/PID/map_files, which is the mapped inode itself, for root only;
 * 2. /proc/PID/exe;
 * 3. the path in the process's mount namespace;
 * 4. the path in the recorder's mount namespace, if it is the same file;
 * 5. a copy of the loaded segments of the file, from the memory of the process.
 *
 * Returns -1 with errno; ESTALE if another file has the path now.
 */
int mt_mapped_file_open(const struct mt_mapped_file *file, struct stat *status);

/* Length of a mapping's path without " (deleted)". */
size_t mt_mapped_file_live_length(const struct mt_text *path);

/* True if the process has another mount namespace or root directory than this one. */
bool mt_mapped_file_is_elsewhere(const struct mt_mapped_file *file);

#define MT_STARTED_SIZE 16 /* of a comm */

/*
 * Sets out to the name by which the process was started, if the process runs this file and the name
 * is another name of the file in the same directory; otherwise to "". The comm is the last part of
 * the started path, which may be a script's, and a process may change its comm. So the inodes are
 * compared.
 */
void mt_mapped_file_started(const struct mt_mapped_file *file, char out[MT_STARTED_SIZE]);

#endif
