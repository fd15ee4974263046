/*
 * Buffers that a source has finished with, kept until their records are released. Serials are those
 * of reader.h.
 */
#ifndef MT_FORMATS_READING_HELD_H
#define MT_FORMATS_READING_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_held {
	MT_ARRAY(struct {
		uint64_t serial; /* of the last record in the buffer */
		void *thing;
	}) things;
	size_t first;	/* index of the oldest buffer in things */
	uint64_t given; /* serial of the record returned last */
	bool keep;	/* records stay valid until released; else until the next record */
};

/* Holds a buffer whose last record is the one returned last. */
static inline void mt_held_put(struct mt_held *held, void *thing)
{
	if (held->first && held->first == held->things.count)
		held->first = held->things.count = 0;
	mt_array_append(&held->things, (__typeof__(*held->things.items)){held->given, thing});
}

/* Takes the oldest buffer if it has no record after `serial`; else NULL. */
static inline void *mt_held_take(struct mt_held *held, uint64_t serial)
{
	if (held->first == held->things.count || held->things.items[held->first].serial > serial)
		return NULL;
	return held->things.items[held->first++].thing;
}

#endif
