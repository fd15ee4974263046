/*
 * The C++ names that most functions have - classes, templates, lambdas, and the types in them -
 * printed while they are read. libiberty, which knows all names, makes a tree of each first and
 * takes ten times as long.
 */
#ifndef MT_SYMBOLS_DEMANGLE_PLAIN_H
#define MT_SYMBOLS_DEMANGLE_PLAIN_H

/*
 * What libiberty prints for a mangled name, the caller's to free; NULL where the name is of another
 * kind or damaged, as only libiberty can tell, or out of memory.
 */
char *mt_demangle_plain(const char *name);

#endif
