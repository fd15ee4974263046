/* Requests bytes from the owner of the file before they are read. */
#include "symbols/elf/elf_input.h"

void mt_elf_input_need(const struct mt_elf_input *input, struct mt_span span, size_t at,
		       size_t size)
{
	if (!input || !span.bytes || at >= span.size)
		return;
	size = size < span.size - at ? size : span.size - at;
	input->need(input->context, span.bytes + at, size);
}

const uint8_t *mt_elf_input_look(const struct mt_elf_input *input, struct mt_span span, size_t at,
				 size_t size, uint8_t *buffer)
{
	if (!input || !input->copy) {
		mt_elf_input_need(input, span, at, size);
		return span.bytes + at;
	}
	input->copy(input->context, span.bytes + at, size, buffer);
	return buffer;
}
