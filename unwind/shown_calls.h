/*
 * What stacks show of who calls whom, kept by where the caller's code is until a question is asked
 * about that code: a compiler's stacks show tens of thousands of calls that nobody asks about.
 * Private to the unwinder.
 */
#ifndef MT_UNWIND_SHOWN_CALLS_H
#define MT_UNWIND_SHOWN_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/code_places.h"

struct mt_call_stack;
struct mt_image_map;

/* A frame of a stack, the one that it called, and the one that this one did. */
struct mt_shown_call {
	struct mt_code_place outer; /* the last byte of a call; nowhere: inner is the root */
	struct mt_code_place inner;
	struct mt_code_place third; /* nowhere where inner was sampled */
	uint64_t size; /* from inner's stack pointer to outer's, each at its call; 0 unknown */
	uint64_t span; /* from third's */
};

struct mt_shown_calls;

/* NULL out of memory. Borrows the places. */
struct mt_shown_calls *mt_shown_calls_create(struct mt_code_places *places);
void mt_shown_calls_destroy(struct mt_shown_calls *shown);

/* Other images come: nothing was shown. */
void mt_shown_calls_begin(struct mt_shown_calls *shown);

/* See mt_call_sites_learn() and what stands around it in unwind/call_site.h. */
bool mt_shown_calls_learn(struct mt_shown_calls *shown, const struct mt_image_map *map,
			  const struct mt_call_stack *stack);
bool mt_shown_calls_settle(struct mt_shown_calls *shown);
bool mt_shown_calls_know(const struct mt_shown_calls *shown, uint64_t hash);
void mt_shown_calls_prefetch(const struct mt_shown_calls *shown, uint64_t hash);

/* Some code, as calls are kept by it. */
struct mt_shown_pages {
	uint32_t next, count;
};

/* That of a function; NULL: of the roots; and all of it. */
struct mt_shown_pages mt_shown_pages_of(const struct mt_code_function *function);
struct mt_shown_pages mt_shown_pages_all(void);

/*
 * One after the other what was shown of that code, and maybe of other code, and not taken yet, the
 * first first. Advances *pages; false: there is no more.
 */
bool mt_shown_calls_take(struct mt_shown_calls *shown, struct mt_shown_pages *pages,
			 struct mt_shown_call *out);

/* How many were ever shown, the same maybe more than once; and, as of then, of that code. */
size_t mt_shown_calls_total(struct mt_shown_calls *shown);
size_t mt_shown_calls_count(const struct mt_shown_calls *shown, struct mt_shown_pages pages);

/* How many were not taken yet. */
size_t mt_shown_calls_waiting(const struct mt_shown_calls *shown);

#endif
