/*
 * Which function calls which, and where, as the stacks of a recording show it: what a joined
 * frame is checked by. Functions are pieces of code as CFI has them, known by their place in their
 * image, so that one process tells of another.
 */
#ifndef MT_UNWIND_JOIN_CALL_SITE_H
#define MT_UNWIND_JOIN_CALL_SITE_H

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

/*
 * Learns from a stack who calls whom: innermost first, each frame was called by the next. Of two
 * different stacks in one map `hash` is another number, but by chance. False out of memory.
 */
bool mt_call_sites_learn(struct mt_call_sites *sites, const struct mt_image_map *map,
			 const uint64_t *pcs, size_t count, uint64_t hash);

/*
 * Where in outer's function the call stands that can have led to inner: the address of its last
 * byte, or 0 where no stack shows that the function calls inner's. Outer itself where that call
 * led to the same function before, and where neither is code of a file, of which nothing is known.
 */
uint64_t mt_call_site_find(struct mt_call_sites *sites, const struct mt_call_question *question);

/* Whether both addresses are in the same function; false where no CFI tells. */
bool mt_call_sites_same(struct mt_call_sites *sites, const struct mt_image_map *map, uint64_t a,
			uint64_t b);

#endif
