/*
 * --alloc-function and --free-function: a program's own functions that allocate and free blocks, in
 * rows like those of allocators.h.
 *
 *	[PATH:]NAME(size=ARG[,count=ARG][,old=ARG][,out=ARG])
 *	[PATH:]NAME(ptr=ARG)
 *
 * ARG is the FETCH[:TYPE] of a probe's field (probe_word.h), or a number. Pure.
 */
#ifndef MT_RECORD_ALLOCATORS_CUSTOM_FUNCTIONS_H
#define MT_RECORD_ALLOCATORS_CUSTOM_FUNCTIONS_H

#include <stdbool.h>

#include "record/allocators/allocators.h"

struct mt_error;

enum {
	MT_CUSTOM_ARGUMENTS = 5, /* size, count, old, out, ptr */
};

struct mt_custom_function {
	struct mt_allocator_function function; /* borrows the strings below */
	char *path;			       /* path or name of a file; NULL: every file */
	char *name;
	char *arguments[MT_CUSTOM_ARGUMENTS];
};

/* Parses a function. The usage error describes the mistake. Deinitialise *out. */
struct mt_error *mt_custom_function_parse(const char *text, bool frees,
					  struct mt_custom_function *out);
void mt_custom_function_deinit(struct mt_custom_function *own);

#endif
