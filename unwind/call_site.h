/*
 * Whether one function calls another, and where: what a joined frame is checked by. Pieces of code
 * are those that CFI tells of.
 *
 * What is known is what the stacks of the recording itself show, and the direct calls in the
 * images' code: by the sets that a recording carries (symbols/call_set.h), where it does, so that
 * the answers are the same wherever it is read; else by the code, where that is at hand.
 */
#ifndef MT_UNWIND_CALL_SITE_H
#define MT_UNWIND_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_call_sites;
struct mt_image_map;

/*
 * A frame as known from another stack, and what is to be its callee; addresses as they are looked
 * up: the last byte of a call for all but the sampled frame.
 */
struct mt_call_question {
	const struct mt_image_map *map;
	uint64_t outer;
	bool outer_calls;     /* outer is at a call; else it was sampled somewhere in its code */
	uint64_t known_inner; /* what that call led to then; 0 where it was sampled */
	uint64_t inner;	      /* what it is to have led to now */
};

/* NULL out of memory. */
struct mt_call_sites *mt_call_sites_create(void);
void mt_call_sites_destroy(struct mt_call_sites *sites);

/* Another recording begins: no stack of it is known. */
void mt_call_sites_begin(struct mt_call_sites *sites);

/* A stack that was walked, innermost first: each frame was called by the next. */
struct mt_call_stack {
	const uint64_t *pcs, *sps; /* as in struct mt_join_stack */
	size_t count;
	bool whole;    /* the last one is the root of its thread */
	uint64_t hash; /* any number that no two different stacks in one map share, but by chance */
};

/* Whether a stack of that hash was learned from not long ago; prefetch() asks memory beforehand. */
bool mt_call_sites_know(const struct mt_call_sites *sites, uint64_t hash);
void mt_call_sites_prefetch(const struct mt_call_sites *sites, uint64_t hash);

/*
 * Learns from it who calls whom; false out of memory. Some of it is learned when the next one
 * comes, when something is asked, or by settle(): until then it has to stay.
 */
bool mt_call_sites_learn(struct mt_call_sites *sites, const struct mt_image_map *map,
			 const struct mt_call_stack *stack);
bool mt_call_sites_settle(struct mt_call_sites *sites);

/*
 * Where in outer's function the call stands that can have led to inner: the address of its last
 * byte, or 0 where none is known to. Outer itself where inner is the same function as before, where
 * that call is known to lead to inner, where it is not known which call of the function leads
 * there, and where neither is code of a file: of that nothing is known. That a call is through a
 * pointer is not enough: it leads to what stacks show it to lead to.
 */
uint64_t mt_call_site_find(struct mt_call_sites *sites, const struct mt_call_question *question);

/* A frame that is taken to have stood between others. */
struct mt_call_rival_question {
	const struct mt_image_map *map;
	uint64_t outer, frame, inner; /* addresses, as above; no outer: the frame is the root */
	uint64_t size;		      /* from the frame's stack pointer to outer's */
	uint64_t beyond, span;	      /* outer's caller, and from there; 0: not asked about */
};

/*
 * Whether another function than the frame's may have stood there: one was seen to be called by
 * outer's function with a frame of that size, or to stand as far below beyond's with another frame
 * between, or to be the root of a stack; and calls inner, as far as is known.
 */
bool mt_call_site_has_rival(struct mt_call_sites *sites,
			    const struct mt_call_rival_question *question);

/* Another number, never 0, whenever that may have become true of what it was not before. */
uint64_t mt_call_sites_known(struct mt_call_sites *sites, const struct mt_image_map *map);

#endif
