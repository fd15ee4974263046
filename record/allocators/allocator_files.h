/* Finds the files whose malloc and operator new the dynamic loader binds for the targets. */
#ifndef MT_RECORD_ALLOCATORS_ALLOCATOR_FILES_H
#define MT_RECORD_ALLOCATORS_ALLOCATOR_FILES_H

#include <stdbool.h>
#include <stdio.h>

struct mt_elf;
struct mt_error;
struct mt_probe_files;
struct mt_probe_targets;

/*
 * Appends each file once:
 *
 * 1. Of a running process: every mapped file except libc that exports malloc and free; if there is
 *    no such file, libc.
 * 2. Of a command: the first file with a malloc in the loader's order (mt_needed_files_each()).
 * 3. Of a program with neither, e.g. a static one: the program, if it has a function malloc.
 * 4. A file whose operator new does not call malloc (of a command: the first file with operator
 *    new).
 *
 * Of running processes at most 32 files are appended, first those that serve most processes. For
 * the whole host, two seconds are spent on reading the mappings of processes, and two seconds on
 * reading the files, beginning with the file that most processes map. left_out receives the names
 * of the files left out, as a part of a sentence, or nothing. If no file is found at all, the error
 * names the target. If a signal arrives, mt_error_is_stop() is true for the error.
 */
struct mt_error *mt_allocator_files_find(const struct mt_probe_targets *targets,
					 struct mt_probe_files *out, FILE *left_out);

/* Returns true if the file has an operator new that does not call malloc. */
bool mt_allocator_has_own_new(struct mt_elf *elf);

#endif
