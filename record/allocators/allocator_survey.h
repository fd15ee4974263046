/* Finds the allocators that the running targets map, most processes first. */
#ifndef MT_RECORD_ALLOCATORS_ALLOCATOR_SURVEY_H
#define MT_RECORD_ALLOCATORS_ALLOCATOR_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct mt_error;
struct mt_probe_files;
struct mt_probe_targets;

enum {
	MT_ALLOCATOR_FILES_MOST = 32,
};

struct mt_allocator_surveyed {
	size_t processes; /* number of processes whose mappings could be read */
	bool has_go;	  /* one of the files is a Go program */
};

/*
 * Appends to out the files that define the targets' malloc and operator new (allocator_files.h), at
 * most MT_ALLOCATOR_FILES_MOST: the files that serve most processes. For the whole host it spends
 * two seconds on reading the mappings of processes, and two seconds on reading the files, beginning
 * with the file that most processes map. left_out: receives the files left out, as a part of a
 * sentence; nothing if there are none. Returns an error that is mt_error_is_stop() if a signal
 * arrives.
 */
struct mt_error *mt_allocator_survey(const struct mt_probe_targets *targets,
				     struct mt_probe_files *out, FILE *left_out,
				     struct mt_allocator_surveyed *seen);

#endif
