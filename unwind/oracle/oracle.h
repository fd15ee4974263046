/*
 * Other unwinders on the same input, to compare ours with: libdw, and libunwind if its headers were
 * installed at build time, loaded on first use. Slow; they do not say why a stack ends.
 */
#ifndef MT_UNWIND_ORACLE_ORACLE_H
#define MT_UNWIND_ORACLE_ORACLE_H

#include "unwind/unwind.h"

struct mt_image_map;

/* A shared library and the names of the functions used from it, NULL-terminated. */
#define MT_ORACLE_FUNCTIONS 16 /* maximum */
struct mt_oracle_library {
	const char *name;
	const char *const *functions;
};

struct mt_oracle {
	const char *name;
	/* Creates state for one address space and borrows its map; NULL on failure. */
	void *(*create)(const struct mt_image_map *map);
	void (*destroy)(void *state);
	/* Appends the frames, innermost first. */
	void (*unwind)(void *state, const struct mt_unwind_input *input, struct mt_stack *stack);
};

/* NULL-terminated. */
extern const struct mt_oracle *const mt_oracles[];

/* The oracles as further rows of mt_unwind_methods, ended by a row of NULLs. Only for mtreport. */
extern const struct mt_unwind_method mt_unwind_oracle_methods[];

extern const struct mt_oracle mt_oracle_libunwind, mt_oracle_libdw;
extern const struct mt_oracle_library mt_oracle_libunwind_library;

/*
 * Loads a library and writes pointers to its functions into `functions`, in their order. Returns a
 * handle for mt_oracle_unload(), which is NULL-safe; NULL if the library or a function is missing.
 */
void *mt_oracle_load(const struct mt_oracle_library *library, void *functions);
void mt_oracle_unload(void *handle);

/* Why a library cannot be loaded; NULL: it can. Borrowed until the next call. */
const char *mt_oracle_problem(const struct mt_oracle_library *library);

#endif
