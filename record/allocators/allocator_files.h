/* The files that the targets' malloc and operator new are in: as the dynamic loader binds them. */
#ifndef MT_RECORD_ALLOCATORS_ALLOCATOR_FILES_H
#define MT_RECORD_ALLOCATORS_ALLOCATOR_FILES_H

#include <stdbool.h>
#include <stdio.h>

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
 * Of running processes those that serve most come first, and are bounded: allocator_survey.h, also
 * for left_out. The error says of which target none was found, if there is none at all.
 */
struct mt_error *mt_allocator_files_find(const struct mt_probe_targets *targets,
					 struct mt_probe_files *out, FILE *left_out);

/* Where a file has malloc and free. */
enum mt_malloc_in {
	MT_MALLOC_IN_NOTHING,
	MT_MALLOC_IN_SYMBOLS, /* not exported: it serves a static program */
	MT_MALLOC_IN_LIBC,
	MT_MALLOC_IN_EXPORTS,
	MT_MALLOC_INS
};

struct mt_allocator_defines {
	enum mt_malloc_in malloc_in;
	bool has_new;	  /* exported: the loader looks no further */
	bool has_own_new; /* that does not end in malloc */
	bool is_go;	  /* a program of Go's, whose heap has no malloc */
};

/* What an open file defines; nothing where it cannot be read. */
struct mt_allocator_defines mt_allocator_look(int fd, const char *path);

/* True if the file has an operator new of its own: one that does not call malloc. */
bool mt_allocator_has_own_new(struct mt_elf *elf);

#endif
