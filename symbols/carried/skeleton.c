/*
 * Plans and writes skeletons. The original's sections keep their numbers, because symbols refer to
 * them; rewritten sections (symbol tables and their strings, relocations) replace the originals or
 * follow them.
 */
#include "symbols/carried/skeleton.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/records/record.h"
#include "symbols/carried/function_symbol.h"
#include "symbols/carried/skeleton_parts.h"
#include "symbols/elf/elf_input.h"
#include "symbols/elf/elf_private.h"
#include "symbols/elf/plt.h"

#define SECTIONS_MAX 32768 /* larger numbers have other meanings in symbols */
#define NOTES_MAX 65536	   /* bytes; real notes have less than 100 */
#define PIECE ((size_t)64 << 10)
#define TABLE_SMALL ((size_t)16 << 20) /* bytes of symbols, and of names */

/* Source of a section's header.size bytes. */
enum content {
	CONTENT_NONE, /* SHT_NOBITS */
	CONTENT_FILE, /* bytes of the file */
	CONTENT_OWN,  /* new bytes, which the skeleton frees */
};

struct section {
	const char *name;
	struct mt_elf_section_header header;
	enum content content;
	union {
		const uint8_t *bytes;
		uint8_t *owned;
	};
};

struct mt_skeleton {
	struct mt_elf *elf, *debug;
	const struct mt_skeleton_wish *wish;
	const struct mt_elf_input *input;
	MT_ARRAY(struct section) sections;
	uint64_t sections_at; /* offset of the section headers */
};

MT_DEFINE_CLEANUP(mt_skeleton, struct mt_skeleton)

void mt_skeleton_destroy(struct mt_skeleton *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->sections.count; i++) {
		if (b->sections.items[i].content == CONTENT_OWN)
			free(b->sections.items[i].owned);
	}
	mt_array_deinit(&b->sections);
	free(b);
}

/* ---- Original sections ---- */

enum {
	FOR_NAMES = 1,
	FOR_UNWIND = 2,
	FOR_LINES = 4,
};

/* Sections kept unchanged; of .debug_*, only those that symbols/lines/ reads. */
static const struct {
	const char *name;
	unsigned int wanted_for;
} kept_sections[] = {
	{".eh_frame", FOR_UNWIND},
	{".debug_frame", FOR_UNWIND},
	{".debug_info", FOR_LINES},
	{".debug_abbrev", FOR_LINES},
	{".debug_addr", FOR_LINES},
	{".debug_line", FOR_LINES},
	{".debug_line_str", FOR_LINES},
	{".debug_ranges", FOR_LINES},
	{".debug_rnglists", FOR_LINES},
	{".debug_str", FOR_LINES},
	{".debug_str_offsets", FOR_LINES},
	{".debug_types", FOR_LINES},
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

static bool is_frames(const char *name)
{
	return !strcmp(name, ".eh_frame") || !strcmp(name, ".eh_frame_hdr") ||
	       !strcmp(name, ".debug_frame");
}

/* .zdebug_* are .debug_* in an older form of compression. */
static unsigned int wanted_for(const char *name)
{
	bool packed = !strncmp(name, ".zdebug_", 8);

	for (size_t i = 0; i < sizeof(kept_sections) / sizeof(*kept_sections); i++) {
		const char *kept = kept_sections[i].name;

		if (packed ? !strcmp(name + 2, kept + 1) : !strcmp(name, kept))
			return kept_sections[i].wanted_for;
	}
	return 0;
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

static struct section *add_section(struct mt_skeleton *b, const char *name,
				   const struct mt_elf_section_header *header)
{
	struct section *section = mt_array_push(&b->sections);

	if (section)
		*section = (struct section){.name = name, .header = *header};
	return section;
}

/*
 * Keeps only a section's header, as SHT_NOBITS. Code keeps its size, because symbols refer to it.
 * Unwind tables in a section that is marked as code get size 0 too, so that a reader does not look
 * for them.
 */
static void leave_out(struct section *section)
{
	if (!(section->header.flags & SHF_EXECINSTR) || section->header.type == SHT_NULL ||
	    is_frames(section->name))
		section->header.size = 0;
	if (section->header.type != SHT_NULL)
		section->header.type = SHT_NOBITS;
	section->header.link = section->header.info = 0;
	section->header.flags &= ~(uint64_t)SHF_COMPRESSED;
}

static void keep_bytes(struct section *section, struct mt_span raw)
{
	section->content = CONTENT_FILE;
	section->bytes = raw.bytes;
	section->header.size = raw.size;
	section->header.link = section->header.info = 0;
}

/* Replaces a section's bytes with new ones, and takes ownership of these. */
static void replace(struct section *section, uint32_t type, struct mt_made_bytes *bytes)
{
	section->content = CONTENT_OWN;
	section->owned = MT_TAKE(bytes->items);
	section->header.type = type;
	section->header.size = bytes->count;
}

/* Reduces .eh_frame to entries of seen code if only these are requested. */
static bool prune_frames(struct mt_skeleton *b, struct section *section, struct mt_span span)
{
	struct mt_made_bytes kept = {0};
	bool all = !b->wish->seen;

	bool good = all || mt_pruned_eh_frame_make(span, b->wish->seen, b->input, &kept, &all);

	if (good && !all)
		replace(section, SHT_PROGBITS, &kept);
	mt_array_deinit(&kept);
	return good;
}

/* Does the same for .debug_info of the file `from`. */
static bool prune_debug_info(struct mt_skeleton *b, struct section *section, struct mt_elf *from)
{
	struct mt_made_bytes kept = {0};
	bool all = !b->wish->seen || strcmp(section->name, ".debug_info") != 0;
	bool good = all || mt_pruned_debug_info_make(from, b->wish->seen, b->input, &kept, &all);

	if (good && !all)
		replace(section, SHT_PROGBITS, &kept);
	mt_array_deinit(&kept);
	return good;
}

static bool has_table(struct mt_elf *elf)
{
	return elf && mt_elf_symbol_count(elf, false);
}

static bool add_original(struct mt_skeleton *b, size_t i)
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
	kept = i && raw.bytes && raw.size && keeps(b->wish, info.name, header->type) &&
	       (header->type != SHT_NOTE || raw.size <= NOTES_MAX);
	if (!strcmp(info.name, ".gnu_debugdata"))
		kept &= !has_table(b->elf) && !has_table(b->debug);
	if (kept)
		keep_bytes(section, raw);
	else
		leave_out(section);
	if (kept && i == mt_elf_find_section(b->elf, ".eh_frame") &&
	    !(header->flags & SHF_COMPRESSED))
		return prune_frames(b, section, raw);
	return !kept || prune_debug_info(b, section, b->elf);
}

/* ---- Additional sections ---- */

/* Adds the unwind tables if only program headers lead to them. */
static bool add_found_frames(struct mt_skeleton *b)
{
	struct mt_span span = mt_elf_section(b->elf, ".eh_frame");
	struct mt_elf_section_header header = {
		.type = SHT_PROGBITS, .flags = SHF_ALLOC, .vaddr = span.vaddr, .size = span.size};
	struct section *section;

	if (!span.bytes || !span.size)
		return true;
	section = add_section(b, ".eh_frame", &header);
	if (!section)
		return false;
	section->content = CONTENT_FILE;
	section->bytes = span.bytes;
	return prune_frames(b, section, span);
}

static bool add_build_id(struct mt_skeleton *b)
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
	section->owned = calloc(1, header.size);
	if (!section->owned)
		return false;
	section->content = CONTENT_OWN;
	mt_put_le32(section->owned, 4);
	mt_put_le32(section->owned + 4, (uint32_t)id.size);
	mt_put_le32(section->owned + 8, NT_GNU_BUILD_ID);
	memcpy(section->owned + 12, "GNU", 4);
	memcpy(section->owned + 16, id.bytes, id.size);
	return true;
}

static size_t find_debug_info(const struct mt_elf *elf)
{
	size_t plain = mt_elf_find_section(elf, ".debug_info");

	return plain ? plain : mt_elf_find_section(elf, ".zdebug_info");
}

/*
 * Adds debug information that only the debug file has. If it is not requested, adds an empty
 * section to show that it exists.
 */
static bool add_debug_lines(struct mt_skeleton *b)
{
	static const struct mt_elf_section_header left_out = {.type = SHT_NOBITS};
	struct mt_elf_section_info info;

	if (!b->debug || find_debug_info(b->elf) || !find_debug_info(b->debug))
		return true;
	if (!b->wish->lines)
		return add_section(b, ".debug_info", &left_out);
	for (size_t i = 1; i < b->debug->sections.count; i++) {
		struct section *section;
		struct mt_span raw = mt_elf_raw_section(b->debug, i);

		mt_elf_section_info(b->debug, i, &info);
		if (!raw.bytes || !raw.size || !(wanted_for(info.name) & FOR_LINES))
			continue;
		section = add_section(b, info.name, &b->debug->sections.items[i]);
		if (!section)
			return false;
		keep_bytes(section, raw);
		if (!prune_debug_info(b, section, b->debug))
			return false;
	}
	return true;
}

/*
 * Adds a section for a symbol table, at its original index if it had one, and a section for its
 * strings after all others. *out: their numbers.
 */
static bool add_table(struct mt_skeleton *b, bool dynamic, size_t each, size_t out[2])
{
	struct mt_elf_section_header header = {.type = SHT_STRTAB, .align = 8};
	size_t at = mt_elf_section_of_type(b->elf, dynamic ? SHT_DYNSYM : SHT_SYMTAB);

	if (!at) {
		at = b->sections.count;
		if (!add_section(b, dynamic ? ".dynsym" : ".symtab", &header))
			return false;
	}
	out[0] = at;
	out[1] = b->sections.count;
	if (!add_section(b, dynamic ? ".dynstr" : ".strtab", &header))
		return false;
	b->sections.items[at].header.type = dynamic ? SHT_DYNSYM : SHT_SYMTAB;
	b->sections.items[at].header.link = (uint32_t)out[1];
	b->sections.items[at].header.entry_size = each;
	return true;
}

/* Adds a whole table, unchanged. */
static bool add_whole_table(struct mt_skeleton *b, struct mt_elf *from, bool dynamic)
{
	const struct mt_elf_symbol_table *raw = mt_elf_symbol_table(from, dynamic);
	size_t at[2];

	if (!raw->count || !raw->names_size)
		return true;
	if (!add_table(b, dynamic, raw->stride, at))
		return false;
	for (int i = 0; i < 2; i++) {
		struct section *section = &b->sections.items[at[i]];

		section->content = CONTENT_FILE;
		section->bytes = i ? (const uint8_t *)raw->names : raw->bytes;
		section->header.size = i ? raw->names_size : raw->count * raw->stride;
	}
	return true;
}

/* Adds the chosen symbols. */
static bool add_kept_table(struct mt_skeleton *b, const struct mt_kept_symbols *kept)
{
	struct mt_made_bytes symbols = {0}, strings = {0};
	bool good = mt_kept_symbols_make(kept, &symbols, &strings);
	size_t at[2];

	good = good &&
	       (!symbols.count || add_table(b, kept->dynamic, mt_skeleton_symbol_size(b->elf), at));
	if (good && symbols.count) {
		replace(&b->sections.items[at[0]], kept->dynamic ? SHT_DYNSYM : SHT_SYMTAB,
			&symbols);
		replace(&b->sections.items[at[1]], SHT_STRTAB, &strings);
	}
	free(symbols.items);
	free(strings.items);
	return good;
}

/* Adds the relocations of PLT stubs. `kept` is as in mt_skeleton_relocations_collect(). */
static bool add_relocations(struct mt_skeleton *b, struct mt_kept_symbols *kept)
{
	for (size_t i = 1; i < b->elf->sections.count; i++) {
		struct section *section = &b->sections.items[i];
		uint32_t type = b->elf->sections.items[i].type;
		struct mt_made_bytes found = {0};

		if (!is_relocations(type, section->name))
			continue;
		if (!mt_skeleton_relocations_collect(b->elf, i, b->input, kept, &found)) {
			free(found.items);
			return false;
		}
		replace(section, type, &found);
		section->header.flags |= b->elf->sections.items[i].flags;
	}
	return true;
}

static bool add_kept_names(struct mt_skeleton *b, struct mt_elf *plain_from)
{
	MT_CLEANUP(mt_map64_deinit) struct mt_map64 known = {0};
	MT_CLEANUP(mt_kept_symbols_deinit)
	struct mt_kept_symbols plain = {.from = plain_from, .input = b->input, .known = &known};
	MT_CLEANUP(mt_kept_symbols_deinit)
	struct mt_kept_symbols dynamic = {
		.from = b->elf, .dynamic = true, .input = b->input, .known = &known};

	return add_relocations(b, &dynamic) &&
	       mt_seen_symbols_choose(b->wish->seen, &plain, &dynamic) &&
	       add_kept_table(b, &plain) && add_kept_table(b, &dynamic);
}

static bool is_small(struct mt_elf *elf, bool dynamic)
{
	const struct mt_elf_symbol_table *raw = mt_elf_symbol_table(elf, dynamic);

	return raw->count < TABLE_SMALL / sizeof(Elf64_Sym) && raw->names_size < TABLE_SMALL;
}

/*
 * Adds the symbol tables. Chosen symbols are in memory. Large tables that are kept whole are copied
 * from the file instead.
 */
static bool add_names(struct mt_skeleton *b)
{
	struct mt_elf *plain = has_table(b->elf) || !b->debug ? b->elf : b->debug;

	if (!b->wish->names)
		return true;
	if (b->wish->seen || (is_small(plain, false) && is_small(b->elf, true)))
		return add_kept_names(b, plain);
	return add_relocations(b, NULL) && add_whole_table(b, plain, false) &&
	       add_whole_table(b, b->elf, true);
}

static bool collect(struct mt_skeleton *b)
{
	static const struct mt_elf_section_header null = {0};
	bool bare = !b->elf->sections.count;

	if (bare && !add_section(b, "", &null))
		return false;
	for (size_t i = 0; i < b->elf->sections.count; i++) {
		if (!add_original(b, i))
			return false;
	}
	if (b->wish->unwind && !mt_elf_find_section(b->elf, ".eh_frame") && !add_found_frames(b))
		return false;
	return add_build_id(b) && add_debug_lines(b) && add_names(b);
}

/* Adds the names of all sections, as the last section. */
static bool add_section_names(struct mt_skeleton *b)
{
	struct mt_elf_section_header header = {.align = 1};
	struct mt_made_bytes names = {0};

	if (!add_section(b, ".shstrtab", &header))
		return false;
	for (size_t i = 0; i < b->sections.count; i++) {
		const char *name = b->sections.items[i].name;

		b->sections.items[i].header.name = (uint32_t)names.count;
		if (!mt_array_extend(&names, name, strlen(name) + 1)) {
			mt_array_deinit(&names);
			return false;
		}
	}
	replace(&b->sections.items[b->sections.count - 1], SHT_STRTAB, &names);
	return true;
}

static size_t segment_count(const struct mt_skeleton *b)
{
	return b->elf->segments.count < PN_XNUM ? b->elf->segments.count : PN_XNUM - 1;
}

static size_t headers_size(const struct mt_skeleton *b)
{
	bool wide = b->elf->is_64;

	return (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) +
	       segment_count(b) * (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

static size_t section_headers_size(const struct mt_skeleton *b)
{
	return b->sections.count * (b->elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
}

static uint64_t aligned(uint64_t at)
{
	return (at + 7) & ~(uint64_t)7;
}

/* Sets the offsets of all parts. */
static void lay_out(struct mt_skeleton *b)
{
	uint64_t at = headers_size(b);

	for (size_t i = 0; i < b->sections.count; i++) {
		struct section *section = &b->sections.items[i];

		if (section->content == CONTENT_NONE)
			continue;
		section->header.offset = at = aligned(at);
		at += section->header.size;
	}
	b->sections_at = aligned(at);
}

struct mt_error *mt_skeleton_create(struct mt_elf *elf, struct mt_elf *debug,
				    const struct mt_skeleton_wish *wish,
				    const struct mt_elf_input *input, struct mt_skeleton **out)
{
	MT_CLEANUP(mt_skeleton_destroy_p) struct mt_skeleton *b = NULL;

	if (elf->sections.count > SECTIONS_MAX)
		return mt_error_create(MT_ERR_UNSUPPORTED, "%zu sections: too many to carry",
				       elf->sections.count);
	b = calloc(1, sizeof(*b));
	if (!b)
		return mt_error_nomem();
	b->elf = elf;
	b->debug = debug;
	b->wish = wish;
	b->input = input;
	if (!collect(b) || !add_section_names(b))
		return mt_error_nomem();
	lay_out(b);
	*out = MT_TAKE(b);
	return NULL;
}

uint32_t mt_skeleton_kept(const struct mt_skeleton_wish *wish)
{
	return (wish->names ? MT_KEPT_NAMES : 0) | (wish->unwind ? MT_KEPT_UNWIND : 0) |
	       (wish->lines ? MT_KEPT_LINES : 0);
}

uint64_t mt_skeleton_size(const struct mt_skeleton *b)
{
	return b->sections_at + section_headers_size(b);
}

/* ---- Writing ---- */

/* The fields of headers in file order, of either class (wide: 64 bits). Each returns the end. */
static uint8_t *put_word(bool wide, uint8_t *at, uint64_t value)
{
	if (wide)
		mt_put_le64(at, value);
	else
		mt_put_le32(at, (uint32_t)value);
	return at + (wide ? 8 : 4);
}

static uint8_t *put_segment(bool wide, const struct mt_segment *s, uint8_t *at)
{
	mt_put_le32(at, PT_LOAD);
	if (wide)
		mt_put_le32(at + 4, s->flags);
	at = put_word(wide, at + (wide ? 8 : 4), s->offset);
	at = put_word(wide, at, s->vaddr);
	at = put_word(wide, at, s->vaddr);
	at = put_word(wide, at, s->file_size);
	at = put_word(wide, at, s->memory_size);
	if (!wide)
		mt_put_le32(at, s->flags);
	return put_word(wide, at + (wide ? 0 : 4), 0);
}

static uint8_t *put_section_header(bool wide, const struct mt_elf_section_header *s, uint8_t *at)
{
	mt_put_le32(at, s->name);
	mt_put_le32(at + 4, s->type);
	at = put_word(wide, at + 8, s->flags);
	at = put_word(wide, at, s->vaddr);
	at = put_word(wide, at, s->offset);
	at = put_word(wide, at, s->size);
	mt_put_le32(at, s->link);
	mt_put_le32(at + 4, s->info);
	at = put_word(wide, at + 8, s->align);
	return put_word(wide, at, s->entry_size);
}

static uint8_t *encode_file_header(const struct mt_skeleton *b, uint8_t *at)
{
	bool wide = b->elf->is_64;
	size_t size = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);

	memcpy(at, ELFMAG, SELFMAG);
	at[EI_CLASS] = wide ? ELFCLASS64 : ELFCLASS32;
	at[EI_DATA] = ELFDATA2LSB;
	at[EI_VERSION] = EV_CURRENT;
	mt_put_le16(at + 16, b->elf->type);
	mt_put_le16(at + 18, b->elf->machine);
	mt_put_le32(at + 20, EV_CURRENT);
	at = put_word(wide, at + 24, 0);
	at = put_word(wide, at, segment_count(b) ? size : 0);
	at = put_word(wide, at, b->sections_at);
	mt_put_le32(at, 0);
	mt_put_le16(at + 4, (uint16_t)size);
	mt_put_le16(at + 6, wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	mt_put_le16(at + 8, (uint16_t)segment_count(b));
	mt_put_le16(at + 10, wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	mt_put_le16(at + 12, (uint16_t)b->sections.count);
	mt_put_le16(at + 14, (uint16_t)(b->sections.count - 1));
	return at + 16;
}

static bool put(const struct mt_skeleton_output *output, const void *bytes, size_t size)
{
	return !size || output->put(output->context, bytes, size);
}

/* Writes zeros up to the next aligned offset. */
static bool put_padding(const struct mt_skeleton_output *output, uint64_t at)
{
	static const uint8_t zeros[8];

	return put(output, zeros, aligned(at) - at);
}

static bool write_headers(const struct mt_skeleton *b, const struct mt_skeleton_output *output)
{
	size_t size = headers_size(b);
	MT_CLEANUP_FREE uint8_t *bytes = calloc(1, size);
	uint8_t *at = bytes ? encode_file_header(b, bytes) : NULL;

	for (size_t i = 0; at && i < segment_count(b); i++)
		at = put_segment(b->elf->is_64, &b->elf->segments.items[i], at);
	return at && put(output, bytes, size) && put_padding(output, size);
}

static bool write_file_bytes(const struct mt_skeleton *b, const struct section *section,
			     const struct mt_skeleton_output *output)
{
	const struct mt_span span = {section->bytes, section->header.size, 0};
	size_t piece = span.size < PIECE ? span.size : PIECE;
	MT_CLEANUP_FREE uint8_t *room = malloc(piece + 1);

	for (size_t at = 0, n; room && at < span.size; at += n) {
		n = span.size - at < piece ? span.size - at : piece;
		if (!put(output, mt_elf_input_look(b->input, span, at, n, room), n))
			return false;
	}
	return room;
}

static bool write_contents(const struct mt_skeleton *b, const struct mt_skeleton_output *output)
{
	for (size_t i = 0; i < b->sections.count; i++) {
		const struct section *section = &b->sections.items[i];

		bool good = section->content == CONTENT_OWN
				    ? put(output, section->owned, section->header.size)
				    : section->content == CONTENT_NONE ||
					      write_file_bytes(b, section, output);

		if (!good || (section->content && !put_padding(output, section->header.size)))
			return false;
	}
	return true;
}

static bool write_section_headers(const struct mt_skeleton *b,
				  const struct mt_skeleton_output *output)
{
	size_t size = section_headers_size(b);
	MT_CLEANUP_FREE uint8_t *bytes = calloc(1, size);
	uint8_t *at = bytes;

	for (size_t i = 0; at && i < b->sections.count; i++)
		at = put_section_header(b->elf->is_64, &b->sections.items[i].header, at);
	return at && put(output, bytes, size);
}

bool mt_skeleton_write(struct mt_skeleton *b, const struct mt_skeleton_output *output)
{
	return write_headers(b, output) && write_contents(b, output) &&
	       write_section_headers(b, output);
}

static bool put_in_memory(void *context, const uint8_t *bytes, size_t size)
{
	uint8_t **at = context;

	memcpy(*at, bytes, size);
	*at += size;
	return true;
}

uint8_t *mt_skeleton_bytes(struct mt_skeleton *b)
{
	MT_CLEANUP_FREE uint8_t *bytes = malloc(mt_skeleton_size(b));
	uint8_t *at = bytes;
	const struct mt_skeleton_output output = {&at, put_in_memory};

	return bytes && mt_skeleton_write(b, &output) ? MT_TAKE(bytes) : NULL;
}

struct mt_error *mt_skeleton_make(struct mt_elf *elf, struct mt_elf *debug,
				  const struct mt_skeleton_wish *wish, uint8_t **out, size_t *size)
{
	MT_CLEANUP(mt_skeleton_destroy_p) struct mt_skeleton *b = NULL;
	struct mt_error *err = mt_skeleton_create(elf, debug, wish, NULL, &b);

	if (err)
		return err;
	*size = mt_skeleton_size(b);
	*out = mt_skeleton_bytes(b);
	return *out ? NULL : mt_error_nomem();
}
