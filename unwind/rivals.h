/*
 * Which functions were seen to stand in the same place: called by the same function, with frames of
 * the same size. Of a stack that ends just below such a place nobody can say which of them it was.
 * Private to the unwinder.
 */
#ifndef MT_UNWIND_RIVALS_H
#define MT_UNWIND_RIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"

/* A function, by the address in its image. */
struct mt_rival {
	uint64_t vaddr;
	uint32_t image;
	uint32_t next; /* an index and one; 0: the last one of its place */
};

/* All-zero it is empty. */
struct mt_rivals {
	struct mt_map64 places; /* to the index of the first */
	MT_ARRAY(struct mt_rival) all;
};

void mt_rivals_deinit(struct mt_rivals *rivals);

/*
 * That this one stands in a place, any hash of it; what is too much is not kept. False out of
 * memory.
 */
bool mt_rivals_learn(struct mt_rivals *rivals, uint64_t place, uint32_t image, uint64_t vaddr);

/* Those of a place, one after the other: the first, and what follows; NULL: there are no more. */
const struct mt_rival *mt_rivals_first(const struct mt_rivals *rivals, uint64_t place);
const struct mt_rival *mt_rivals_next(const struct mt_rivals *rivals, const struct mt_rival *rival);

#endif
