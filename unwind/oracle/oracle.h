/*
 * Other unwinders on our input, to be held against ours: libdw, and libunwind where its headers
 * were at hand when this was built, loaded when it is asked. Slow, and they do not say why a stack
 * ends.
 */
#ifndef MT_UNWIND_ORACLE_ORACLE_H
#define MT_UNWIND_ORACLE_ORACLE_H

#include "unwind/unwind.h"

struct mt_image_map;

/* A shared library and the names of the functions that are used of it; ends in NULL. */
#define MT_ORACLE_FUNCTIONS 16 /* at most */
struct mt_oracle_library {
	const char *name;
	const char *const *functions;
};

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
extern const struct mt_oracle_library mt_oracle_libunwind_library;

/*
 * Puts pointers to a library's functions into `functions`, one behind the other as they are named.
 * The handle is for mt_oracle_unload(), which is NULL-safe; NULL without the library or one of
 * them.
 */
void *mt_oracle_load(const struct mt_oracle_library *library, void *functions);
void mt_oracle_unload(void *handle);

/* Why a library cannot be loaded; NULL: it can. Borrowed until another one is. */
const char *mt_oracle_problem(const struct mt_oracle_library *library);

#endif
