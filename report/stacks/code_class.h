/*
 * The class of a frame's code: of the program, of a library, or of the runtime (allocators, the C
 * library, the loader). Every program calls the runtime, so reports are not about it. The relation
 * of the file to the process decides, not the directory where it is installed:
 * /usr/lib/postgresql/15/bin/postgres is the program of a postgres process.
 */
#ifndef MT_REPORT_STACKS_CODE_CLASS_H
#define MT_REPORT_STACKS_CODE_CLASS_H

#include <stdbool.h>
#include <stddef.h>

enum mt_code_class {
	MT_CODE_PROGRAM,
	MT_CODE_LIBRARY,
	MT_CODE_RUNTIME,
	MT_CODE_NONE, /* not code of a file: the heap, an unknown address */
	MT_CODE_OURS, /* the program's, even if a function has a name of the runtime: --ours */
};

/*
 * The class of the image at `path` in a process that runs `exe`; NULL or "": unknown. Both are
 * paths as recorded, with or without " (deleted)" at the end.
 *
 * 1. Runtime: a file of the runtime table, by soname, wherever it is.
 * 2. Program: exe itself; a file in the directory tree of exe's installation, unless all programs
 *    share this directory (/usr, /opt); a file in exe's directory; a file in a directory named
 *    after exe (/usr/lib/python3.11/lib-dynload for python3.11); libNAME.so for NAME
 *    (libnode.so.108).
 * 3. Program, if exe is unknown: a file whose name does not contain ".so".
 * 4. Program: code that the process made itself, see mt_is_made_code().
 * 5. Library: all other files.
 */
enum mt_code_class mt_code_class_of(const char *path, const char *exe);

/* True for the path of the dynamic loader: ld-linux-x86-64.so.2, ld-2.31.so, ld-musl-*. */
bool mt_is_loader(const char *path);

/* True for the path of the C library: libc.so.6, libpthread-2.31.so, ld-musl-x86_64.so.1. */
bool mt_is_c_library(const char *path);

/* True for the path of an allocator library: libjemalloc.so.2. */
bool mt_is_allocator(const char *path);

/* True if a path represents code that a process made at run time: JIT code. */
bool mt_is_made_code(const char *path);

/* True if a frame's name marks made code without a name: "[anon]", "[perf-12.map]". */
bool mt_is_made_code_name(const char *name);

/* The name of made code in reports. */
#define MT_MADE_CODE_NAME "JIT code"

/* True if a path may be a process's program: not a shared library or the loader. */
bool mt_may_be_program(const char *path);

/* The length of a program's name without its version: 6 for "python3.11". */
size_t mt_program_stem(const char *name);

#endif
