/*
 * Other unwinders with the same input, for comparison: libunwind, if its headers were installed at
 * build time, which is loaded on first use; in tests also libdw. They are slow and do not report
 * why a stack ends.
 */
#ifndef MT_UNWIND_ORACLE_ORACLE_H
#define MT_UNWIND_ORACLE_ORACLE_H

#include "unwind/unwind.h"

struct mt_image_map;
struct mt_shared_library;

struct mt_oracle {
	const char *name;
	/* Creates state for one address space and borrows its map; NULL on failure. */
	void *(*create)(const struct mt_image_map *map);
	void (*destroy)(void *state);
	/* Appends the frames, innermost first. */
	void (*unwind)(void *state, const struct mt_unwind_input *input, struct mt_stack *stack);
};

/* The oracle as an additional unwind method, like mt_unwind_methods. Only for mtreport. */
extern const struct mt_unwind_method mt_unwind_oracle_methods[];

extern const struct mt_oracle mt_oracle_libunwind;
extern const struct mt_oracle mt_oracle_libdw; /* tests/oracle/oracle_libdw.c */
extern const struct mt_shared_library mt_oracle_libunwind_library;

#endif
