/*
 * Other unwinders, to be held against ours on the same samples. Each is built in where its library
 * is at hand.
 */
#ifndef MT_TESTS_ORACLE_ORACLE_H
#define MT_TESTS_ORACLE_ORACLE_H

#include <stddef.h>
#include <stdint.h>

struct mt_unwind_input;
struct oracle_state;
struct samples;

struct oracle {
	const char *name;
	struct oracle_state *(*create)(const struct samples *samples);
	void (*destroy)(struct oracle_state *state);
	/* Fills pcs innermost first; how many. */
	size_t (*unwind)(struct oracle_state *state, const struct mt_unwind_input *input,
			 uint64_t *pcs, size_t max);
};

extern const struct oracle oracle_libunwind, oracle_libdw;

/* Ends in NULL. */
extern const struct oracle *const oracles[];

#endif
