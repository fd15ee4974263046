/*
 * Finds the files that define the targets' malloc and operator new, as the dynamic loader binds
 * them.
 */
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
 *    none, libc.
 * 2. Of a command: the first file with a malloc in the loader's order (needed_files.h).
 * 3. Of a program with neither, e.g. a static one: the program, if it has a function malloc.
 * 4. A file whose operator new does not call malloc (of a command: the first file with operator
 *    new).
 *
 * Of running processes, files that serve most processes come first, and their number is bounded;
 * see allocator_survey.h, also for left_out. If no file is found at all, the error names the
 * target.
 */
struct mt_error *mt_allocator_files_find(const struct mt_probe_targets *targets,
					 struct mt_probe_files *out, FILE *left_out);

/* Where a file defines malloc and free. */
enum mt_malloc_in {
	MT_MALLOC_IN_NOTHING,
	MT_MALLOC_IN_SYMBOLS, /* not exported: serves only a static program */
	MT_MALLOC_IN_LIBC,
	MT_MALLOC_IN_EXPORTS,
	MT_MALLOC_INS
};

struct mt_allocator_defines {
	enum mt_malloc_in malloc_in;
	bool has_new;	  /* exported, so the loader searches no further */
	bool has_own_new; /* operator new that does not call malloc */
	bool is_go;	  /* a Go program, whose heap has no malloc */
};

/* Returns what an open file defines; nothing if it cannot be read. */
struct mt_allocator_defines mt_allocator_look(int fd, const char *path);

/* Returns true if the file has an operator new that does not call malloc. */
bool mt_allocator_has_own_new(struct mt_elf *elf);

#endif
