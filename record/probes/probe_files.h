/* Finds the files of a probe's PATH, as the targets map them or as the loader would map them. */
#ifndef MT_RECORD_PROBES_PROBE_FILES_H
#define MT_RECORD_PROBES_PROBE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "formats/base/array.h"

struct mt_error;
struct mt_mapped_file;
struct mt_number_list;
struct stat;

/* The targets of probes; borrowed as long as the probes exist. */
struct mt_probe_targets {
	const struct mt_number_list *pids, *tids;
	const char *command_file; /* file of a command that will be executed, or NULL */
	bool everyone;		  /* every process of the host */
};

struct mt_probe_file {
	int fd;
	char *path; /* for messages */
	dev_t device;
	ino_t inode;
};

struct mt_probe_files {
	MT_ARRAY(struct mt_probe_file) items;
};

/*
 * Appends the files of a path or of a name without a slash; "libc" is libc.so.6 and libc-2.31.so.
 * If path is NULL, appends every file that a target maps executable or that the command needs.
 *
 * 1. Files that a target maps executable with that path or name: the mapped inode itself, even if
 *    the file was replaced on disk or is in a container.
 * 2. For a path: that file below a target's root, or below the recorder's root.
 * 3. For a name: the command's file, or a library that it needs.
 *
 * word names the probe in messages.
 */
struct mt_error *mt_probe_files_find(const struct mt_probe_targets *targets, const char *word,
				     const char *path, struct mt_probe_files *out);

/* Calls each for every executable mapping of a file. Returns false if the maps cannot be read. */
bool mt_probe_mappings_each(pid_t pid,
			    void (*each)(void *context, const struct mt_mapped_file *file),
			    void *context);

/* Calls each for every target that exists. */
void mt_probe_targets_each(const struct mt_probe_targets *targets,
			   void (*each)(void *context, pid_t pid), void *context);

/*
 * Appends an open file, if it is not in the list already; takes ownership of fd. The path has
 * `length` bytes. False out of memory, or if there are too many files.
 */
bool mt_probe_files_add(struct mt_probe_files *files, int fd, const struct stat *status,
			const char *path, size_t length);

/* Appends every file that a process maps executable. */
struct mt_error *mt_probe_files_of(pid_t pid, struct mt_probe_files *out);

void mt_probe_files_deinit(struct mt_probe_files *files);

/*
 * Returns true if the name means the file of that path: "libc", "libc.so" and "libc.so.6" all mean
 * libc, including musl's.
 */
bool mt_probe_file_is_called(const char *path, const char *name);

/*
 * Calls each with a path until it returns false. The order is: the program, or a script's
 * interpreter; the files in LD_PRELOAD; all libraries that it needs directly or indirectly
 * (DT_NEEDED); its loader. Searches libraries like ld.so: DT_RUNPATH, LD_LIBRARY_PATH, the folders
 * of /etc/ld.so.conf, the system's folders. Skips files that do not exist.
 */
void mt_needed_files_each(const char *program, bool (*each)(void *context, const char *path),
			  void *context);

#endif
