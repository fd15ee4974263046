/* Reads the build id from an ELF file's notes. */
#include <elf.h>
#include <string.h>

#include "formats/base/cursor.h"
#include "symbols/elf/elf_private.h"

/* Steps to the next multiple of align from the start of the notes; the end if there is less. */
static void skip_padding(struct mt_cursor *c, const uint8_t *start, size_t align)
{
	size_t pad = (align - (size_t)(c->pos - start) % align) % align;

	mt_cursor_bytes(c, pad < mt_cursor_left(c) ? pad : mt_cursor_left(c));
}

/*
 * The GNU build id among the notes; what a note covers is padded to 8 bytes where the notes are so
 * aligned, else to 4.
 */
static struct mt_span build_id_of_notes(const uint8_t *bytes, size_t size, uint64_t align)
{
	struct mt_cursor c = mt_cursor_init(bytes, size);
	size_t padding = align == 8 ? 8 : 4;

	while (mt_cursor_left(&c)) {
		uint32_t name_size = mt_cursor_u32(&c), desc_size = mt_cursor_u32(&c),
			 type = mt_cursor_u32(&c);
		const uint8_t *name = mt_cursor_bytes(&c, name_size), *desc;

		skip_padding(&c, bytes, padding);
		desc = mt_cursor_bytes(&c, desc_size);
		skip_padding(&c, bytes, padding);
		if (desc && desc_size && type == NT_GNU_BUILD_ID && name_size == 4 &&
		    !memcmp(name, "GNU", 4))
			return (struct mt_span){
				.bytes = desc,
				.size = desc_size < MT_BUILD_ID_MAX ? desc_size : MT_BUILD_ID_MAX,
			};
	}
	return (struct mt_span){0};
}

static struct mt_span build_id_of_segments(const struct mt_elf *elf)
{
	struct mt_span id = {0};

	for (size_t i = 0; i < elf->headers.count && !id.bytes; i++) {
		const struct mt_elf_program_header *p = &elf->headers.items[i];
		const uint8_t *bytes = mt_elf_file_bytes(elf, p->offset, p->file_size);

		if (p->type == PT_NOTE && bytes)
			id = build_id_of_notes(bytes, p->file_size, p->align);
	}
	return id;
}

static struct mt_span build_id_of_sections(const struct mt_elf *elf)
{
	struct mt_span id = {0}, raw;

	for (size_t i = 0; i < elf->sections.count && !id.bytes; i++) {
		if (elf->sections.items[i].type != SHT_NOTE)
			continue;
		raw = mt_elf_raw_section(elf, i);
		if (raw.bytes)
			id = build_id_of_notes(raw.bytes, raw.size, elf->sections.items[i].align);
	}
	return id;
}

struct mt_span mt_elf_build_id(const struct mt_elf *elf)
{
	struct mt_span id = elf->type == ET_CORE || elf->skeleton ? (struct mt_span){0}
								  : build_id_of_segments(elf);

	return id.bytes ? id : build_id_of_sections(elf);
}
