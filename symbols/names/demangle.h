/*
 * C++ and Rust names as perf prints them: without return type and parameters, template arguments
 * kept.
 */
#ifndef MT_SYMBOLS_NAMES_DEMANGLE_H
#define MT_SYMBOLS_NAMES_DEMANGLE_H

#include <stddef.h>

struct mt_pool;

/*
 * The demangled form of a symbol's name, the caller's to free; NULL where the name is not mangled,
 * too long, grows beyond all bounds when printed (a few hundred bytes can stand for gigabytes), or
 * out of memory: then the name stands for itself.
 */
char *mt_demangle(const char *name);

/* Demangles many names by the threads of a pool: out[i] becomes mt_demangle(names[i]). */
void mt_demangle_all(const char *const *names, size_t count, struct mt_pool *pool, char **out);

#endif
