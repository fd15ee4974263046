/* The bytes of an ELF file of which few are in memory at a time. */
#ifndef MT_SYMBOLS_ELF_ELF_INPUT_H
#define MT_SYMBOLS_ELF_ELF_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

/*
 * Told before bytes of a file are looked at, so that they need not be there all the time: what it
 * was told of last has to stay until the next time. What is looked at without being told of: the
 * headers, section names, and notes.
 */
struct mt_elf_input {
	void *context;
	void (*need)(void *context, const uint8_t *bytes, size_t size);
	/* NULL, or copies bytes that it was not told of: of a few among many that costs less. */
	void (*copy)(void *context, const uint8_t *bytes, size_t size, uint8_t *to);
};

/* Tells it that so many of a span's bytes are about to be looked at; input may be NULL. */
void mt_elf_input_need(const struct mt_elf_input *input, struct mt_span span, size_t at,
		       size_t size);

/*
 * The bytes of a span from `at` on, all of which are in it: where they are, or in the buffer, which
 * has room for so many. They hold until the next time it is told of some.
 */
const uint8_t *mt_elf_input_look(const struct mt_elf_input *input, struct mt_span span, size_t at,
				 size_t size, uint8_t *buffer);

#endif
