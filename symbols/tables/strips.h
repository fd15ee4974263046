/*
 * Ranges of addresses cut into strips that none of them crosses, without sorting them: where a
 * table is asked about a few addresses, only what is in their strips has to be looked at closely.
 */
#ifndef MT_SYMBOLS_TABLES_STRIPS_H
#define MT_SYMBOLS_TABLES_STRIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_strips;

/*
 * For ranges with numbers below count, most of which start in [low, high): that others do costs
 * time, no more. NULL out of memory.
 */
struct mt_strips *mt_strips_create(uint64_t low, uint64_t high, uint32_t count);
void mt_strips_destroy(struct mt_strips *strips);

/* Each number at most once. One that does not end behind its start ends where the next starts. */
void mt_strips_add(struct mt_strips *strips, uint32_t number, uint64_t start, uint64_t end);

/* All ranges were added: strips may be asked for. */
void mt_strips_finish(struct mt_strips *strips);

/* The strip that all ranges with this address are in. */
uint32_t mt_strips_find(const struct mt_strips *strips, uint64_t address);

struct mt_strip {
	uint32_t *numbers; /* of its ranges, in no order */
	size_t count, capacity;
	bool last;     /* nothing starts behind it */
	uint64_t next; /* where the first range behind it starts */
};

/* Lists a strip in place of what *out listed; false out of memory. */
bool mt_strips_list(const struct mt_strips *strips, uint32_t strip, struct mt_strip *out);
void mt_strip_deinit(struct mt_strip *strip);

#endif
