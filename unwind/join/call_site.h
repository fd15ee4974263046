/*
 * Call sites seen in the stacks of a recording: which function calls which, and where. The joiner
 * uses them to check joined frames. A function is a range of code by CFI, identified by its place
 * in the image, so calls seen in one process are known for others.
 */
#ifndef MT_UNWIND_JOIN_CALL_SITE_H
#define MT_UNWIND_JOIN_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_call_sites;
struct mt_image_map;

/*
 * A frame of another stack, and the callee to check. Addresses are lookup addresses: the last byte
 * of the call, except for a sampled frame.
 */
struct mt_call_question {
	const struct mt_image_map *map;
	uint64_t outer;
	bool outer_calls;     /* outer is at a call; else it was sampled */
	uint64_t known_inner; /* callee of that call in the other stack; 0 if outer was sampled */
	uint64_t inner;	      /* callee to check */
};

/* NULL out of memory. */
struct mt_call_sites *mt_call_sites_create(void);
void mt_call_sites_destroy(struct mt_call_sites *sites);

/* Drops all call sites, before another recording. */
void mt_call_sites_begin(struct mt_call_sites *sites);

/*
 * Learns the calls of a stack: pcs has the innermost frame first; each frame was called by the
 * next. `hash` identifies the stack and its map; collisions do not harm. False out of memory.
 */
bool mt_call_sites_learn(struct mt_call_sites *sites, const struct mt_image_map *map,
			 const uint64_t *pcs, size_t count, uint64_t hash);

/*
 * The call in outer's function that can have led to inner: the address of its last byte, or 0 if no
 * stack has a call from outer's function to inner's function. Returns `outer` itself if its call
 * led to inner's function in the other stack, and if neither callee has CFI, because nothing is
 * known about them.
 */
uint64_t mt_call_site_find(struct mt_call_sites *sites, const struct mt_call_question *question);

/* Whether both addresses are in one function; false without CFI. */
bool mt_call_sites_same(struct mt_call_sites *sites, const struct mt_image_map *map, uint64_t a,
			uint64_t b);

#endif
