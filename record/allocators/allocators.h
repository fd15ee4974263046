/*
 * The functions that allocate and free blocks, and the words (probe_word.h) that probe them. Pure.
 */
#ifndef MT_RECORD_ALLOCATORS_ALLOCATORS_H
#define MT_RECORD_ALLOCATORS_ALLOCATORS_H

#include <stdbool.h>

#include "record/tracepoints/tracepoint_source.h"

struct mt_error;

/* Arguments are FETCH[:TYPE] of a word that names a probe: arg1, arg2:u32, ...; NULL: none. */
struct mt_allocator_function {
	const char *name;	  /* name of the symbol */
	const char *size, *count; /* their product is the requested size */
	const char *old;	  /* block that is freed if the call succeeds */
	const char *out;	  /* where the new block's address is put; NULL: it is returned */
	const char *freed;	  /* block that the function frees; NULL: it allocates */
	bool is_cxx;		  /* C++ new or delete; in libstdc++ these call malloc and free */
};

enum {
	MT_ALLOCATOR_FUNCTIONS = 33,
};

/* If several functions share code, the first row is the one to probe. */
extern const struct mt_allocator_function mt_allocator_functions[MT_ALLOCATOR_FUNCTIONS];

/* Priority of a file, by its path, when the dynamic loader binds malloc. */
enum mt_allocator_rank {
	MT_ALLOCATOR_NEVER, /* the loader, which soon stops using its own malloc */
	MT_ALLOCATOR_LIBC,  /* if no earlier file has a malloc */
	MT_ALLOCATOR_FIRST, /* before libc */
};
enum mt_allocator_rank mt_allocator_rank(const char *path);

/* Returns true for glibc, which stores a block's size before the block. */
bool mt_allocator_is_glibc(const char *path);

/* Returns the word that defines a probe; the caller frees it. NULL out of memory. */
char *mt_allocator_word(const struct mt_allocator_function *function, enum mt_block_moment moment,
			bool glibc);

/* Returns the event's `account`; the caller frees it. NULL out of memory. */
char *mt_allocator_account(const struct mt_allocator_function *function,
			   enum mt_block_moment moment);

/*
 * --alloc-function and --free-function: a program's own functions that allocate and free blocks.
 *
 *	[PATH:]NAME(size=ARG[,count=ARG][,old=ARG][,out=ARG])
 *	[PATH:]NAME(ptr=ARG)
 *
 * ARG is the FETCH[:TYPE] of a probe's field (probe_word.h), or a number.
 */
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
