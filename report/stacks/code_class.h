/*
 * Whose code a frame runs: the program's own, a library's, or that of the runtime (allocators, the
 * C library, the loader), which every program calls and no report asks about. Decided by what the
 * file is to the process, not by where the system installs it: /usr/lib/postgresql/15/bin/postgres
 * is the program of a postgres process.
 */
#ifndef MT_REPORT_STACKS_CODE_CLASS_H
#define MT_REPORT_STACKS_CODE_CLASS_H

#include <stdbool.h>
#include <stddef.h>

enum mt_code_class {
	MT_CODE_PROGRAM,
	MT_CODE_LIBRARY,
	MT_CODE_RUNTIME,
	MT_CODE_NONE, /* no file's code: the heap, an unknown address */
	MT_CODE_OURS, /* the program's, whatever its name and that of its functions: --ours */
};

/*
 * The class of the image at `path` in a process that runs `exe`; NULL or "": not known. Both are
 * paths as recorded, maybe with " (deleted)" behind.
 *
 * 1. Runtime: a file of the runtime table, by soname, wherever it is.
 * 2. Program: exe itself; a file in the directory tree of exe's installation, unless that is one
 *    that all programs share (/usr, /opt); a file beside exe; one in a directory named after exe
 *    (/usr/lib/python3.11/lib-dynload for python3.11); libNAME.so for NAME (libnode.so.108).
 * 3. Program, where exe is not known: a file without ".so" in its name.
 * 4. Program: code that the process made itself, see mt_is_made_code().
 * 5. Library: all others.
 */
enum mt_code_class mt_code_class_of(const char *path, const char *exe);

/* Whether a path is that of the dynamic loader: ld-linux-x86-64.so.2, ld-2.31.so, ld-musl-*. */
bool mt_is_loader(const char *path);

/* The same of the C library: libc.so.6, libpthread-2.31.so, ld-musl-x86_64.so.1. */
bool mt_is_c_library(const char *path);

/* The same of an allocator of its own: libjemalloc.so.2. */
bool mt_is_allocator(const char *path);

/* Whether a path stands for code that a process made at run time: JIT code. */
bool mt_is_made_code(const char *path);

/*
 * Whether the name of a frame is what frames of such code are called that nothing names: "[anon]",
 * "[perf-12.map]".
 */
bool mt_is_made_code_name(const char *name);

/* What reports call such frames. */
#define MT_MADE_CODE_NAME "JIT code"

/*
 * Whether a file can be the program that a process runs, as far as its path tells: not a shared
 * library or the loader.
 */
bool mt_may_be_program(const char *path);

/*
 * The bytes of a program's name in front of its version: 6 of "python3.11"; the length where it has
 * none.
 */
size_t mt_program_stem(const char *name);

#endif
