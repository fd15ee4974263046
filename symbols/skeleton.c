/*
 * Writes skeletons. The original's sections keep their numbers, which symbols refer to; what is
 * made anew (symbol tables with the strings they need, relocations without the rest) takes the
 * place of what it is made from, or stands behind.
 */
#include "symbols/skeleton.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "formats/base/err.h"
#include "symbols/call_set.h"
#include "symbols/elf_private.h"
#include "symbols/function_symbol.h"
#include "symbols/plt.h"
#include "symbols/skeleton_symbols.h"

#define SECTIONS_MAX 32768 /* the numbers above have other meanings to symbols */
#define NOTES_MAX 65536	   /* bytes: notes are tens */

struct section {
	const char *name;
	struct mt_elf_section_header header;
	const uint8_t *bytes; /* header.size of them, or NULL: SHT_NOBITS */
	uint8_t *owned;	      /* the same, where they are ours to free */
};

struct builder {
	struct mt_elf *elf, *debug;
	const struct mt_skeleton_wish *wish;
	MT_ARRAY(struct section) sections;
	MT_ARRAY(uint8_t) out;
};

static void builder_deinit(struct builder *b)
{
	for (size_t i = 0; i < b->sections.count; i++)
		free(b->sections.items[i].owned);
	mt_array_deinit(&b->sections);
	mt_array_deinit(&b->out);
}

/* ---- Which sections ---- */

enum {
	FOR_NAMES = 1,
	FOR_UNWIND = 2,
	FOR_LINES = 4,
};

/* Kept as they are; and, of .debug_*, what is not listed is FOR_LINES. */
static const struct {
	const char *name;
	unsigned int wanted_for;
} kept_sections[] = {
	{".eh_frame", FOR_UNWIND},
	{".debug_frame", FOR_UNWIND},
	{".zdebug_frame", FOR_UNWIND},
	{".init", FOR_UNWIND},
	{".fini", FOR_UNWIND},
	{".plt", FOR_NAMES | FOR_UNWIND},
	{".plt.sec", FOR_NAMES | FOR_UNWIND},
	{".plt.got", FOR_NAMES | FOR_UNWIND},
	{".iplt", FOR_NAMES | FOR_UNWIND},
	{".gnu_debuglink", FOR_NAMES | FOR_LINES},
	{".gnu_debugaltlink", FOR_NAMES | FOR_LINES},
	{".gnu_debugdata", FOR_NAMES},
};

static bool is_debug(const char *name)
{
	return !strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8);
}

static unsigned int wanted_for(const char *name)
{
	for (size_t i = 0; i < sizeof(kept_sections) / sizeof(*kept_sections); i++) {
		if (!strcmp(name, kept_sections[i].name))
			return kept_sections[i].wanted_for;
	}
	return is_debug(name) ? FOR_LINES : 0;
}

static unsigned int wish_bits(const struct mt_skeleton_wish *wish)
{
	return (wish->names ? FOR_NAMES : 0) | (wish->unwind ? FOR_UNWIND : 0) |
	       (wish->lines ? FOR_LINES : 0);
}

static bool keeps(const struct mt_skeleton_wish *wish, const char *name, uint32_t type)
{
	return type == SHT_NOTE || wanted_for(name) & wish_bits(wish);
}

static bool is_relocations(uint32_t type, const char *name)
{
	return (type == SHT_RELA || type == SHT_REL) &&
	       (!strcmp(name, ".rela.plt") || !strcmp(name, ".rela.dyn") ||
		!strcmp(name, ".rel.plt"));
}

bool mt_skeleton_needs(const struct mt_skeleton_wish *wish, const char *name, uint32_t type)
{
	if (keeps(wish, name, type) ||
	    (wish->unwind && (!strcmp(name, ".text") || !strcmp(name, ".eh_frame_hdr"))))
		return true;
	return wish->names && (type == SHT_SYMTAB || type == SHT_DYNSYM || type == SHT_STRTAB ||
			       is_relocations(type, name));
}

static struct section *add_section(struct builder *b, const char *name,
				   const struct mt_elf_section_header *header)
{
	struct section *section = mt_array_push(&b->sections);

	if (section)
		*section = (struct section){.name = name, .header = *header};
	return section;
}

/* Sections out of which nothing is kept: those in memory tell where they are. */
static void leave_out(struct section *section)
{
	if (!(section->header.flags & SHF_EXECINSTR) || section->header.type == SHT_NULL)
		section->header.size = 0;
	if (section->header.type != SHT_NULL)
		section->header.type = SHT_NOBITS;
	section->header.link = section->header.info = 0;
	section->header.flags &= ~(uint64_t)SHF_COMPRESSED;
}

static void keep_bytes(struct section *section, struct mt_span raw)
{
	section->bytes = raw.bytes;
	section->header.size = raw.size;
	section->header.link = section->header.info = 0;
}

static bool has_table(struct mt_elf *elf)
{
	return elf && mt_elf_symbol_count(elf, false);
}

static bool add_original(struct builder *b, size_t i)
{
	const struct mt_elf_section_header *header = &b->elf->sections.items[i];
	struct mt_elf_section_info info;
	struct mt_span raw = mt_elf_raw_section(b->elf, i);
	struct section *section;
	bool kept;

	mt_elf_section_info(b->elf, i, &info);
	section = add_section(b, info.name, header);
	if (!section)
		return false;
	kept = raw.bytes && raw.size && keeps(b->wish, info.name, header->type) &&
	       (header->type != SHT_NOTE || raw.size <= NOTES_MAX);
	if (!strcmp(info.name, ".gnu_debugdata"))
		kept &= !has_table(b->elf) && !has_table(b->debug);
	if (kept)
		keep_bytes(section, raw);
	else
		leave_out(section);
	return true;
}

/* ---- What is not among the original's sections ---- */

/* Bytes that program headers led to. */
static bool add_found(struct builder *b, const char *name, uint32_t type, struct mt_span span)
{
	struct mt_elf_section_header header = {
		.type = type, .flags = SHF_ALLOC, .vaddr = span.vaddr, .size = span.size};
	struct section *section;

	if (!span.bytes || !span.size)
		return true;
	section = add_section(b, name, &header);
	if (section)
		section->bytes = span.bytes;
	return section;
}

static bool add_build_id(struct builder *b)
{
	struct mt_span id = mt_elf_build_id(b->elf);
	struct mt_elf_section_header header = {
		.type = SHT_NOTE, .align = 4, .size = 16 + (id.size + 3) / 4 * 4};
	struct section *section;

	for (size_t i = 0; i < b->sections.count; i++) {
		if (b->sections.items[i].header.type == SHT_NOTE)
			return true;
	}
	if (!id.size)
		return true;
	section = add_section(b, ".note.gnu.build-id", &header);
	if (!section)
		return false;
	section->bytes = section->owned = calloc(1, header.size);
	if (!section->owned)
		return false;
	mt_put_le32(section->owned, 4);
	mt_put_le32(section->owned + 4, (uint32_t)id.size);
	mt_put_le32(section->owned + 8, NT_GNU_BUILD_ID);
	memcpy(section->owned + 12, "GNU", 4);
	memcpy(section->owned + 16, id.bytes, id.size);
	return true;
}

/* Which functions call which, of the code that is left out. */
static bool add_calls(struct builder *b)
{
	struct mt_elf_section_header header = {.type = SHT_PROGBITS, .align = 8};
	struct section *section;
	uint8_t *bytes;
	size_t size;

	if (!b->wish->unwind)
		return true;
	if (!mt_call_set_make(b->elf, &bytes, &size))
		return false;
	if (!bytes)
		return true;
	section = add_section(b, MT_CALL_SET_SECTION, &header);
	if (!section) {
		free(bytes);
		return false;
	}
	section->bytes = section->owned = bytes;
	section->header.size = size;
	return true;
}

/* Debug information that only the debug file has. */
static bool add_debug_lines(struct builder *b)
{
	struct mt_elf_section_info info;

	if (!b->wish->lines || !b->debug || mt_elf_find_section(b->elf, ".debug_info") ||
	    mt_elf_find_section(b->elf, ".zdebug_info"))
		return true;
	for (size_t i = 1; i < b->debug->sections.count; i++) {
		struct section *section;
		struct mt_span raw = mt_elf_raw_section(b->debug, i);

		mt_elf_section_info(b->debug, i, &info);
		if (!raw.bytes || !raw.size ||
		    !(is_debug(info.name) || !strcmp(info.name, ".gnu_debugaltlink")))
			continue;
		section = add_section(b, info.name, &b->debug->sections.items[i]);
		if (!section)
			return false;
		keep_bytes(section, raw);
	}
	return true;
}

/* Puts bytes that were made here in the place of section i; takes them. */
static void replace(struct builder *b, size_t i, uint32_t type, uint8_t *bytes, size_t size)
{
	struct section *section = &b->sections.items[i];

	section->bytes = section->owned = bytes;
	section->header.type = type;
	section->header.size = size;
}

static size_t section_of_type(const struct mt_elf *elf, uint32_t type)
{
	for (size_t i = 1; i < elf->sections.count; i++) {
		if (elf->sections.items[i].type == type)
			return i;
	}
	return 0;
}

/* A symbol table with its strings behind all other sections; in its old place where it has one. */
static bool add_symbols(struct builder *b, bool dynamic, struct mt_skeleton_symbols *symbols)
{
	uint32_t type = dynamic ? SHT_DYNSYM : SHT_SYMTAB;
	size_t at = section_of_type(b->elf, type), strings = b->sections.count;
	struct mt_elf_section_header header = {.align = 8};

	if (!symbols->table.count)
		return true;
	if (!at) {
		at = strings++;
		if (!add_section(b, dynamic ? ".dynsym" : ".symtab", &header))
			return false;
	}
	if (!add_section(b, dynamic ? ".dynstr" : ".strtab", &header))
		return false;
	replace(b, strings, SHT_STRTAB, MT_TAKE(symbols->strings.items), symbols->strings.count);
	replace(b, at, type, MT_TAKE(symbols->table.items), symbols->table.count);
	b->sections.items[at].header.link = (uint32_t)strings;
	b->sections.items[at].header.entry_size =
		b->elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	return true;
}

static bool add_relocations(struct builder *b, const struct mt_skeleton_symbols *dynamic)
{
	for (size_t i = 1; i < b->elf->sections.count; i++) {
		uint32_t type = b->elf->sections.items[i].type;
		uint8_t *bytes;
		size_t size;

		if (!is_relocations(type, b->sections.items[i].name))
			continue;
		if (!mt_skeleton_relocations(b->elf, i, dynamic, &bytes, &size))
			return false;
		replace(b, i, type, bytes, size);
		b->sections.items[i].header.flags |= b->elf->sections.items[i].flags;
	}
	return true;
}

static bool mark_relocated(struct builder *b, struct mt_skeleton_symbols *dynamic)
{
	for (size_t i = 1; i < b->elf->sections.count; i++) {
		if (is_relocations(b->elf->sections.items[i].type, b->sections.items[i].name) &&
		    !mt_skeleton_mark(b->elf, i, dynamic))
			return false;
	}
	return true;
}

static bool add_names(struct builder *b)
{
	MT_CLEANUP(mt_skeleton_symbols_deinit)
	struct mt_skeleton_symbols plain = {0}, dynamic = {0};
	struct mt_elf *plain_from = has_table(b->elf) || !b->debug ? b->elf : b->debug;

	if (!b->wish->names)
		return true;
	return mt_skeleton_symbols_collect(plain_from, b->elf, false, &plain) &&
	       mark_relocated(b, &dynamic) &&
	       mt_skeleton_symbols_collect(b->elf, b->elf, true, &dynamic) &&
	       add_relocations(b, &dynamic) && add_symbols(b, false, &plain) &&
	       add_symbols(b, true, &dynamic);
}

static bool collect(struct builder *b)
{
	static const struct mt_elf_section_header null = {0};
	bool bare = !b->elf->sections.count;

	if (bare && !add_section(b, "", &null))
		return false;
	for (size_t i = 0; i < b->elf->sections.count; i++) {
		if (!add_original(b, i))
			return false;
	}
	if (b->wish->unwind && !mt_elf_find_section(b->elf, ".eh_frame") &&
	    !add_found(b, ".eh_frame", SHT_PROGBITS, mt_elf_section(b->elf, ".eh_frame")))
		return false;
	return add_build_id(b) && add_calls(b) && add_debug_lines(b) && add_names(b);
}

/* ---- Writing ---- */

static uint8_t *room(struct builder *b, size_t size)
{
	uint8_t *at;

	if (!mt_array_reserve(&b->out, b->out.count + size))
		return NULL;
	at = b->out.items + b->out.count;
	memset(at, 0, size);
	b->out.count += size;
	return at;
}

static bool align(struct builder *b)
{
	return room(b, -b->out.count & 7);
}

/* Writes a word of the file's class, gives where the next stands. */
static uint8_t *put_word(const struct builder *b, uint8_t *at, uint64_t value)
{
	if (b->elf->is_64)
		mt_put_le64(at, value);
	else
		mt_put_le32(at, (uint32_t)value);
	return at + (b->elf->is_64 ? 8 : 4);
}

static size_t segment_count(const struct builder *b)
{
	return b->elf->segments.count < PN_XNUM ? b->elf->segments.count : PN_XNUM - 1;
}

static bool write_segments(struct builder *b)
{
	bool wide = b->elf->is_64;

	for (size_t i = 0; i < segment_count(b); i++) {
		const struct mt_segment *s = &b->elf->segments.items[i];
		uint8_t *at = room(b, wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));

		if (!at)
			return false;
		mt_put_le32(at, PT_LOAD);
		if (wide)
			mt_put_le32(at + 4, s->flags);
		at = put_word(b, at + (wide ? 8 : 4), s->offset);
		at = put_word(b, at, s->vaddr);
		at = put_word(b, at, s->vaddr);
		at = put_word(b, at, s->file_size);
		at = put_word(b, at, s->memory_size);
		if (!wide)
			mt_put_le32(at, s->flags);
	}
	return true;
}

static bool write_contents(struct builder *b)
{
	for (size_t i = 0; i < b->sections.count; i++) {
		struct section *section = &b->sections.items[i];
		uint8_t *at;

		if (!section->bytes)
			continue;
		if (!align(b))
			return false;
		section->header.offset = b->out.count;
		at = room(b, section->header.size);
		if (!at)
			return false;
		memcpy(at, section->bytes, section->header.size);
	}
	return align(b);
}

/* The names of all sections, as the last one. */
static bool add_section_names(struct builder *b)
{
	struct mt_elf_section_header header = {.align = 1};
	MT_ARRAY(uint8_t) names = {0};

	if (!add_section(b, ".shstrtab", &header))
		return false;
	for (size_t i = 0; i < b->sections.count; i++) {
		size_t size = strlen(b->sections.items[i].name) + 1;

		if (!mt_array_reserve(&names, names.count + size)) {
			mt_array_deinit(&names);
			return false;
		}
		b->sections.items[i].header.name = (uint32_t)names.count;
		memcpy(names.items + names.count, b->sections.items[i].name, size);
		names.count += size;
	}
	replace(b, b->sections.count - 1, SHT_STRTAB, names.items, names.count);
	return true;
}

static bool write_section_headers(struct builder *b)
{
	for (size_t i = 0; i < b->sections.count; i++) {
		const struct mt_elf_section_header *s = &b->sections.items[i].header;
		uint8_t *at = room(b, b->elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));

		if (!at)
			return false;
		mt_put_le32(at, s->name);
		mt_put_le32(at + 4, s->type);
		at = put_word(b, at + 8, s->flags);
		at = put_word(b, at, s->vaddr);
		at = put_word(b, at, s->offset);
		at = put_word(b, at, s->size);
		mt_put_le32(at, s->link);
		mt_put_le32(at + 4, s->info);
		at = put_word(b, at + 8, s->align);
		put_word(b, at, s->entry_size);
	}
	return true;
}

/* In front of all, once it is known where the section headers stand. */
static void write_file_header(struct builder *b, size_t sections_at)
{
	bool wide = b->elf->is_64;
	uint8_t *at = b->out.items;
	size_t size = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);

	memcpy(at, ELFMAG, SELFMAG);
	at[EI_CLASS] = wide ? ELFCLASS64 : ELFCLASS32;
	at[EI_DATA] = ELFDATA2LSB;
	at[EI_VERSION] = EV_CURRENT;
	mt_put_le16(at + 16, b->elf->type);
	mt_put_le16(at + 18, b->elf->machine);
	mt_put_le32(at + 20, EV_CURRENT);
	at = put_word(b, at + 24, 0);
	at = put_word(b, at, segment_count(b) ? size : 0);
	at = put_word(b, at, sections_at);
	mt_put_le32(at, 0);
	mt_put_le16(at + 4, (uint16_t)size);
	mt_put_le16(at + 6, wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	mt_put_le16(at + 8, (uint16_t)segment_count(b));
	mt_put_le16(at + 10, wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	mt_put_le16(at + 12, (uint16_t)b->sections.count);
	mt_put_le16(at + 14, (uint16_t)(b->sections.count - 1));
}

static bool write_all(struct builder *b)
{
	size_t sections_at;

	if (!add_section_names(b) ||
	    !room(b, b->elf->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) ||
	    !write_segments(b) || !write_contents(b))
		return false;
	sections_at = b->out.count;
	if (!write_section_headers(b))
		return false;
	write_file_header(b, sections_at);
	return true;
}

struct mt_error *mt_skeleton_create(struct mt_elf *elf, struct mt_elf *debug,
				    const struct mt_skeleton_wish *wish, uint8_t **out,
				    size_t *size)
{
	MT_CLEANUP(builder_deinit)
	struct builder b = {.elf = elf, .debug = debug, .wish = wish};
	uint8_t *exact;

	if (elf->sections.count > SECTIONS_MAX)
		return mt_error_create(MT_ERR_UNSUPPORTED, "%zu sections: too many to carry",
				       elf->sections.count);
	if (!collect(&b) || !write_all(&b))
		return mt_error_nomem();
	exact = realloc(b.out.items, b.out.count);
	*out = exact ? exact : b.out.items;
	*size = b.out.count;
	b.out.items = NULL;
	return NULL;
}
