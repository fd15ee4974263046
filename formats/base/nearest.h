/*
 * "Did you mean": which of the words that exist is most like one that was typed. Offer them one by
 * one, then ask.
 */
#ifndef MT_FORMATS_BASE_NEAREST_H
#define MT_FORMATS_BASE_NEAREST_H

#include <stddef.h>

/* Zero but for typed and length. */
struct mt_nearest {
	const char *typed;
	size_t length;
	const char *best; /* borrowed; NULL: none is near */
	unsigned distance;
};

/*
 * Takes the word where it is nearer than those before, and near at all: a third of what was typed
 * may be wrong, where a letter too many, one missing, another one and two exchanged count alike.
 */
void mt_nearest_offer(struct mt_nearest *nearest, const char *word);

#endif
