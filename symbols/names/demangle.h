/*
 * Demangles C++ and Rust names as perf does: with template arguments, without return type and
 * parameters.
 */
#ifndef MT_SYMBOLS_NAMES_DEMANGLE_H
#define MT_SYMBOLS_NAMES_DEMANGLE_H

/*
 * The demangled name; the caller frees it. NULL if the name is not mangled, is too long, or expands
 * past a limit (a few hundred bytes can expand to gigabytes), and out of memory. Use the original
 * name then.
 */
char *mt_demangle(const char *name);

#endif
