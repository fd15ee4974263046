/*
 * Functions that belong to the runtime wherever they are linked: an allocator inside a program
 * (jemalloc in redis-server), its wrappers (zmalloc, palloc), what compilers put in from libraries
 * (std::, Go's runtime, Rust's alloc). The reader asks for their caller.
 */
#ifndef MT_REPORT_STACKS_RUNTIME_FUNCTIONS_H
#define MT_REPORT_STACKS_RUNTIME_FUNCTIONS_H

#include <stdbool.h>

/* By the name as a report shows it, demangled or not, maybe with "? " in front. */
bool mt_is_runtime_function(const char *name);

/*
 * Whether it gets the pages of a garbage-collected heap from the kernel: who keeps what they hold
 * is not in its callers.
 */
bool mt_is_page_allocator(const char *name);

/*
 * Whether an allocator other than the C library's maps memory for many blocks in it: which path
 * asked for the one that did not fit is chance, as with brk.
 */
bool mt_is_arena_mapper(const char *name);

/* Whether a garbage collector of HotSpot or V8 runs in it, which moves what lives to new pages. */
bool mt_is_collector(const char *name);

/*
 * Whether a source file is one that is compiled into programs and not theirs: headers of compilers
 * and installed libraries.
 */
bool mt_is_runtime_source(const char *file);

#endif
