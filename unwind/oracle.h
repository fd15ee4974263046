/*
 * Other unwinders on our input, to be held against ours: libunwind and libdw, each where its
 * library was at hand when this was built. Slow, and they do not say why a stack ends.
 */
#ifndef MT_UNWIND_ORACLE_H
#define MT_UNWIND_ORACLE_H

#include "unwind/unwind.h"

struct mt_image_map;

struct mt_oracle {
	const char *name;
	/* For one address space, whose map is borrowed; NULL where it fails. */
	void *(*create)(const struct mt_image_map *map);
	void (*destroy)(void *state);
	/* Appends the frames, innermost first. */
	void (*unwind)(void *state, const struct mt_unwind_input *input, struct mt_stack *stack);
};

/* Ends in NULL. */
extern const struct mt_oracle *const mt_oracles[];

/* The same as further rows of mt_unwind_methods; ends in a row of NULLs. For mtreport alone. */
extern const struct mt_unwind_method mt_unwind_oracle_methods[];

extern const struct mt_oracle mt_oracle_libunwind, mt_oracle_libdw;

#endif
