/* A stack dump: bytes of the sampled thread's stack from its stack pointer up. */
#ifndef MT_UNWIND_DUMP_H
#define MT_UNWIND_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/bytes.h"
#include "unwind/return_slots.h"

struct mt_dump {
	const uint8_t *bytes;
	uint64_t start; /* address of the first byte */
	uint64_t size;
	const struct mt_return_slot *returns; /* replaced return addresses; see return_slots.h */
	size_t return_count;
};

/* The word that a return probe's trampoline has replaced at address, if it is one. */
static inline uint64_t mt_dump_restore(const struct mt_dump *dump, uint64_t address, uint64_t word)
{
	for (size_t i = 0; i < dump->return_count; i++) {
		if (dump->returns[i].slot == address)
			return dump->returns[i].address;
	}
	return word;
}

/* Reads the word at address; false, with *value untouched, unless the dump holds all 8 bytes. */
static inline bool mt_dump_read(const struct mt_dump *dump, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - dump->start;

	if (dump->size < 8 || offset > dump->size - 8)
		return false;
	*value = mt_get_le64(dump->bytes + offset);
	if (__builtin_expect(dump->return_count && mt_may_be_trampoline(*value), 0))
		*value = mt_dump_restore(dump, address, *value);
	return true;
}

#endif
