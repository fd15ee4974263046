/*
 * Parses notes of type 3 of "stapsdt": address, base and semaphore as u64, then three strings. The
 * addresses are correct if .stapsdt.base is at the address `base`; prelinking moves it.
 */
#include "record/probes/usdt_notes.h"

#include "formats/base/cursor.h"
#include "symbols/elf/elf.h"

enum {
	NOTE_TYPE = 3,
};

static void skip_padding(struct mt_cursor *c, const uint8_t *start)
{
	size_t pad = -(size_t)(c->pos - start) & 3, left = mt_cursor_left(c);

	mt_cursor_bytes(c, pad < left ? pad : left);
}

static bool read_note(struct mt_cursor body, uint64_t real_base, struct mt_usdt_note *out)
{
	uint64_t address = mt_cursor_u64(&body), base = mt_cursor_u64(&body),
		 semaphore = mt_cursor_u64(&body);
	uint64_t moved = base && real_base ? real_base - base : 0;

	out->provider = mt_cursor_cstring(&body);
	out->name = mt_cursor_cstring(&body);
	out->arguments = mt_cursor_cstring(&body);
	out->address = address + moved;
	out->semaphore = semaphore ? semaphore + moved : 0;
	return !body.bad && *out->provider && *out->name;
}

bool mt_usdt_notes_read(const struct mt_span *notes, uint64_t base,
			bool (*each)(void *context, const struct mt_usdt_note *note), void *context)
{
	struct mt_cursor c = mt_cursor_init(notes->bytes, notes->size);

	while (mt_cursor_left(&c)) {
		uint32_t name_size = mt_cursor_u32(&c), size = mt_cursor_u32(&c),
			 type = mt_cursor_u32(&c);
		const uint8_t *name = mt_cursor_bytes(&c, name_size);
		struct mt_cursor body;
		struct mt_usdt_note note;

		skip_padding(&c, notes->bytes);
		body = mt_cursor_sub(&c, size);
		skip_padding(&c, notes->bytes);
		if (name && type == NOTE_TYPE && name_size == sizeof("stapsdt") &&
		    !memcmp(name, "stapsdt", sizeof("stapsdt")) && read_note(body, base, &note) &&
		    !each(context, &note))
			return false;
	}
	return true;
}

bool mt_usdt_notes_each(struct mt_elf *elf,
			bool (*each)(void *context, const struct mt_usdt_note *note), void *context)
{
	struct mt_span notes = mt_elf_section(elf, ".note.stapsdt");
	struct mt_elf_section_info base = {0};
	size_t index = mt_elf_find_section(elf, ".stapsdt.base");

	if (index)
		(void)mt_elf_section_info(elf, index, &base);
	return mt_usdt_notes_read(&notes, base.vaddr, each, context);
}
