/*
 * "Did you mean": finds the known word closest to a typed one. Offer the known words one by one.
 */
#ifndef MT_FORMATS_BASE_NEAREST_H
#define MT_FORMATS_BASE_NEAREST_H

#include <stddef.h>

/* Zero except for typed and length. */
struct mt_nearest {
	const char *typed;
	size_t length;
	const char *best; /* borrowed; NULL: none is close enough */
	unsigned distance;
};

/*
 * Takes the word if it is closer than the best so far and at most a third of the typed letters
 * differ. The distance counts inserted, deleted, replaced and transposed letters alike.
 */
void mt_nearest_offer(struct mt_nearest *nearest, const char *word);

#endif
