/* The files that the targets' malloc is in: what the dynamic loader bound it to, or would. */
#ifndef MT_RECORD_PROBES_ALLOCATOR_FILES_H
#define MT_RECORD_PROBES_ALLOCATOR_FILES_H

struct mt_error;
struct mt_probe_files;
struct mt_probe_targets;

/*
 * Appends each such file once:
 *
 * 1. Of a running process: every file it maps that exports malloc and free, libc aside; else libc.
 * 2. Of a command: the first file with a malloc in the loader's order (needed_files.h).
 * 3. Of a program with neither, as a static one: the program, if it has a function malloc.
 *
 * The error says of which target none was found, if there is none at all.
 */
struct mt_error *mt_allocator_files_find(const struct mt_probe_targets *targets,
					 struct mt_probe_files *out);

#endif
