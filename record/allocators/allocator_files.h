/* The files that the targets' malloc and operator new are in: as the dynamic loader binds them. */
#ifndef MT_RECORD_ALLOCATORS_ALLOCATOR_FILES_H
#define MT_RECORD_ALLOCATORS_ALLOCATOR_FILES_H

#include <stdbool.h>

struct mt_elf;
struct mt_error;
struct mt_probe_files;
struct mt_probe_targets;

/*
 * Appends each such file once:
 *
 * 1. Of a running process: every file it maps that exports malloc and free, libc aside; else libc.
 * 2. Of a command: the first file with a malloc in the loader's order (needed_files.h).
 * 3. Of a program with neither, as a static one: the program, if it has a function malloc.
 * 4. A file whose operator new does not call malloc (of a command the first one that has any).
 *
 * The error says of which target none was found, if there is none at all.
 */
struct mt_error *mt_allocator_files_find(const struct mt_probe_targets *targets,
					 struct mt_probe_files *out);

/* True if the file has an operator new of its own: one that does not call malloc. */
bool mt_allocator_has_own_new(struct mt_elf *elf);

#endif
