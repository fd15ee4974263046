/*
 * The functions that give and free blocks, and the words (probe_word.h) by which they are probed.
 * Pure.
 */
#ifndef MT_RECORD_ALLOCATORS_ALLOCATORS_H
#define MT_RECORD_ALLOCATORS_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "record/tracepoints/tracepoint_source.h"

/* Arguments are FETCH[:TYPE] of words of probes: arg1, arg2:u32, ...; NULL: there is none. */
struct mt_allocator_function {
	const char *name;	  /* as symbols have it */
	const char *size, *count; /* their product is asked for */
	const char *old;	  /* the block that is freed if the call succeeds */
	const char *out;	  /* where the new block's address goes; NULL: it is returned */
	const char *freed;	  /* the block of a function that frees; NULL: it gives one */
	bool is_cxx;		  /* operator new or delete: libstdc++'s end in malloc and free */
};

/* All rows. Of functions that are one piece of code the first row is the one to probe. */
const struct mt_allocator_function *mt_allocator_functions(size_t *count);

/* How the dynamic loader looks at a file of that path when it binds malloc. */
enum mt_allocator_rank {
	MT_ALLOCATOR_NEVER, /* the loader's own, which it stops using */
	MT_ALLOCATOR_LIBC,  /* where nothing before it has a malloc */
	MT_ALLOCATOR_FIRST, /* before libc */
};
enum mt_allocator_rank mt_allocator_rank(const char *path);

/* True if that file is glibc, which keeps a block's size before it. */
bool mt_allocator_is_glibc(const char *path);

/* The word of a probe; the caller frees it. NULL out of memory. */
char *mt_allocator_word(const struct mt_allocator_function *function, enum mt_block_moment moment,
			bool glibc);

/* The event's `account`; the caller frees it. NULL out of memory. */
char *mt_allocator_account(const struct mt_allocator_function *function,
			   enum mt_block_moment moment);

#endif
