/* The bytes of an ELF file, of which only a few are in memory at a time. */
#ifndef MT_SYMBOLS_ELF_ELF_INPUT_H
#define MT_SYMBOLS_ELF_ELF_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

/*
 * Called before bytes of a file are read. The bytes requested last stay valid until the next call.
 * Headers, section names and the build id are read without a call.
 */
struct mt_elf_input {
	void *context;
	void (*need)(void *context, const uint8_t *bytes, size_t size);
	/* Copies bytes without requesting them, which is cheaper for scattered bytes; or NULL. */
	void (*copy)(void *context, const uint8_t *bytes, size_t size, uint8_t *to);
};

/* Requests `size` bytes of a span at `at`; input may be NULL. */
static inline void mt_elf_input_need(const struct mt_elf_input *input, struct mt_span span,
				     size_t at, size_t size)
{
	if (!input || !span.bytes || at >= span.size)
		return;
	size = size < span.size - at ? size : span.size - at;
	input->need(input->context, span.bytes + at, size);
}

/*
 * Returns `size` bytes of a span at `at`, all inside the span: in place, or copied to the buffer,
 * which has room for `size` bytes. Valid until the next request.
 */
static inline const uint8_t *mt_elf_input_look(const struct mt_elf_input *input,
					       struct mt_span span, size_t at, size_t size,
					       uint8_t *buffer)
{
	if (!input || !input->copy) {
		mt_elf_input_need(input, span, at, size);
		return span.bytes + at;
	}
	input->copy(input->context, span.bytes + at, size, buffer);
	return buffer;
}

#endif
