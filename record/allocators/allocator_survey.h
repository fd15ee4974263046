/* Which allocators the running targets map, those of most processes first. */
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
	size_t processes; /* whose mappings could be read */
	bool has_go;	  /* a program of Go's was among the files */
};

/*
 * Appends to out the files in which the targets' malloc and operator new are (allocator_files.h),
 * at most MT_ALLOCATOR_FILES_MOST: those that serve most processes. Of the whole host, two seconds
 * each go into reading what processes map and into reading those files, from the one that most
 * processes map. left_out: which were left out, as a part of a sentence; nothing where none was.
 * An error that is mt_error_is_stop() if a signal came.
 */
struct mt_error *mt_allocator_survey(const struct mt_probe_targets *targets,
				     struct mt_probe_files *out, FILE *left_out,
				     struct mt_allocator_surveyed *seen);

#endif
