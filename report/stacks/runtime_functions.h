/*
 * Functions that belong to the runtime wherever they are linked: an allocator inside a program
 * (jemalloc in redis-server), its wrappers (zmalloc, palloc), library code that compilers add
 * (std::, Go's runtime, Rust's alloc). Reports show their callers.
 */
#ifndef MT_REPORT_STACKS_RUNTIME_FUNCTIONS_H
#define MT_REPORT_STACKS_RUNTIME_FUNCTIONS_H

#include <stdbool.h>

/* True for a runtime function. The name may be demangled or not, with or without "? " before it. */
bool mt_is_runtime_function(const char *name);

/*
 * True for functions that get the pages of a garbage-collected heap from the kernel. Their callers
 * do not show who keeps the objects in these pages.
 */
bool mt_is_page_allocator(const char *name);

/*
 * True for functions by which an allocator other than the C library's maps memory for many blocks.
 * Which path calls them is chance, as with brk: the path whose block did not fit.
 */
bool mt_is_arena_mapper(const char *name);

/* True for functions of garbage collectors in HotSpot or V8, which move objects to new pages. */
bool mt_is_collector(const char *name);

/*
 * True for source files that are compiled into programs but belong to others: headers of compilers
 * and installed libraries.
 */
bool mt_is_runtime_source(const char *file);

#endif
