/* Writes fields in file order. */
#include "symbols/elf/elf_write.h"

#include <elf.h>

#include "formats/base/bytes.h"
#include "symbols/elf/elf_private.h"

uint8_t *mt_elf_put_word(bool wide, uint8_t *at, uint64_t value)
{
	if (wide)
		mt_put_le64(at, value);
	else
		mt_put_le32(at, (uint32_t)value);
	return at + (wide ? 8 : 4);
}

uint8_t *mt_elf_put_segment(bool wide, const struct mt_segment *s, uint8_t *at)
{
	mt_put_le32(at, PT_LOAD);
	if (wide)
		mt_put_le32(at + 4, s->flags);
	at = mt_elf_put_word(wide, at + (wide ? 8 : 4), s->offset);
	at = mt_elf_put_word(wide, at, s->vaddr);
	at = mt_elf_put_word(wide, at, s->vaddr);
	at = mt_elf_put_word(wide, at, s->file_size);
	at = mt_elf_put_word(wide, at, s->memory_size);
	if (!wide)
		mt_put_le32(at, s->flags);
	return mt_elf_put_word(wide, at + (wide ? 0 : 4), 0);
}

uint8_t *mt_elf_put_section_header(bool wide, const struct mt_elf_section_header *s, uint8_t *at)
{
	mt_put_le32(at, s->name);
	mt_put_le32(at + 4, s->type);
	at = mt_elf_put_word(wide, at + 8, s->flags);
	at = mt_elf_put_word(wide, at, s->vaddr);
	at = mt_elf_put_word(wide, at, s->offset);
	at = mt_elf_put_word(wide, at, s->size);
	mt_put_le32(at, s->link);
	mt_put_le32(at + 4, s->info);
	at = mt_elf_put_word(wide, at + 8, s->align);
	return mt_elf_put_word(wide, at, s->entry_size);
}
