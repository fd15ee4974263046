/* A stack dump: bytes of the sampled thread's stack from its stack pointer up. */
#ifndef MT_UNWIND_DUMP_H
#define MT_UNWIND_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/bytes.h"

struct mt_dump {
	const uint8_t *bytes;
	uint64_t start; /* address of the first byte */
	uint64_t size;
};

/* Reads the word at address; false, with *value untouched, unless the dump holds all 8 bytes. */
static inline bool mt_dump_read(const struct mt_dump *dump, uint64_t address, uint64_t *value)
{
	uint64_t offset = address - dump->start;

	if (dump->size < 8 || offset > dump->size - 8)
		return false;
	*value = mt_get_le64(dump->bytes + offset);
	return true;
}

#endif
