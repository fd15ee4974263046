/*
 * What a source's records lie in, from when the source is done with it to when nobody reads those
 * records any more. The serials are those of reader.h.
 */
#ifndef MT_FORMATS_READING_HELD_H
#define MT_FORMATS_READING_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_held {
	MT_ARRAY(struct {
		uint64_t serial; /* of the last record in it */
		void *thing;
	}) things;
	size_t first;	/* in things */
	uint64_t given; /* serial of the record given last */
	bool keep;	/* until the serial is released; else the next record is enough */
};

/* The record given last was the last one in it. False out of memory. */
static inline bool mt_held_put(struct mt_held *held, void *thing)
{
	if (held->first && held->first == held->things.count)
		held->first = held->things.count = 0;
	if (!mt_array_push(&held->things))
		return false;
	held->things.items[held->things.count - 1].serial = held->given;
	held->things.items[held->things.count - 1].thing = thing;
	return true;
}

/* The next that holds no record after `serial`; NULL where none does. */
static inline void *mt_held_take(struct mt_held *held, uint64_t serial)
{
	if (held->first == held->things.count || held->things.items[held->first].serial > serial)
		return NULL;
	return held->things.items[held->first++].thing;
}

#endif
