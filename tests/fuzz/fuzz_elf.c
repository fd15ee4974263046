/* An ELF file from any bytes: every accessor must stay inside the bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/base/err.h"
#include "symbols/elf/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads all of a span, so that the sanitizer reports a span that is too long. */
static unsigned int touch(struct mt_span span)
{
	unsigned int sum = 0;

	if (!span.bytes && span.size)
		abort();
	for (size_t i = 0; i < span.size; i++)
		sum += span.bytes[i];
	return sum;
}

static unsigned int touch_at(const struct mt_elf *elf, uint64_t vaddr)
{
	const uint8_t *bytes = mt_elf_bytes_at(elf, vaddr, 16);

	return touch((struct mt_span){bytes, bytes ? 16 : 0, vaddr});
}

static unsigned int touch_symbols(struct mt_elf *elf, bool dynamic)
{
	struct mt_elf_section_info section;
	struct mt_elf_symbol symbol;
	unsigned int sum = 0;

	for (size_t i = 0; i < mt_elf_symbol_count(elf, dynamic); i++) {
		if (!mt_elf_symbol(elf, dynamic, i, &symbol))
			continue;
		for (const char *p = symbol.name; *p; p++)
			sum += (unsigned char)*p;
		if (mt_elf_section_info(elf, symbol.section, &section))
			sum += (unsigned char)*section.name;
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {".eh_frame", ".eh_frame_hdr", ".debug_frame",
					    ".symtab",	 ".plt",	  ""};
	struct mt_elf *elf;
	struct mt_error *err = mt_elf_open_memory(data, size, "fuzz", &elf);
	volatile unsigned int sum = 0;
	uint64_t vaddr;
	size_t segments;

	if (err) {
		mt_error_destroy(err);
		return 0;
	}
	mt_elf_set_codec(elf, &mt_elf_codec_all);
	sum += touch(mt_elf_build_id(elf));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		sum += touch(mt_elf_section(elf, names[i]));
	mt_elf_segments(elf, &segments);
	for (uint64_t at = 0; at < size + 4096 && segments < 64; at += 61) {
		if (mt_elf_offset_to_vaddr(elf, at, &vaddr))
			sum += touch_at(elf, vaddr);
	}
	sum += touch_symbols(elf, false) + touch_symbols(elf, true);
	(void)sum;
	mt_elf_destroy(elf);
	return 0;
}
