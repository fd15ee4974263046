/*
 * The merged skeleton is written anew, with the first one's sections in their order and those that
 * it has not behind them. Whatever a part says is copied once, each step is linear in the parts.
 */
#include "symbols/skeleton_merge.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "symbols/call_set.h"
#include "symbols/elf_private.h"
#include "symbols/elf_write.h"
#include "symbols/skeleton_frames.h"

#define SECTIONS_MAX 32768 /* as a skeleton has at most, and some of ours */
#define PROBES 8	   /* symbols of one hash that are compared */

MT_DEFINE_CLEANUP(mt_elf, struct mt_elf)

struct section {
	struct mt_elf_section_header header;
	const uint8_t *first; /* header.size bytes of the first part; NULL: none */
	uint8_t *bytes;	      /* ours in their place, or NULL */
};

struct merge {
	MT_ARRAY(struct mt_elf *) parts; /* that fit the first */
	MT_ARRAY(struct section) sections;
	MT_ARRAY(uint8_t) names;   /* of sections, once there are some that the first has not */
	const struct mt_elf *base; /* whose .dynsym is in front; NULL: none has one */
};

static void merge_deinit(struct merge *m)
{
	for (size_t i = 0; i < m->parts.count; i++)
		mt_elf_destroy(m->parts.items[i]);
	for (size_t i = 0; i < m->sections.count; i++)
		free(m->sections.items[i].bytes);
	mt_array_deinit(&m->parts);
	mt_array_deinit(&m->sections);
	mt_array_deinit(&m->names);
}

static const char *section_name(const struct mt_elf *elf, size_t i)
{
	struct mt_elf_section_info info = {.name = ""};

	mt_elf_section_info(elf, i, &info);
	return info.name;
}

/* Its bytes as they are; none where they are compressed. */
static struct mt_span named_section(const struct mt_elf *elf, const char *name)
{
	size_t i = mt_elf_find_section(elf, name);

	if (!i || elf->sections.items[i].flags & SHF_COMPRESSED)
		return (struct mt_span){0};
	return mt_elf_raw_section(elf, i);
}

/* ---- Which parts ---- */

static bool same_segments(const struct mt_elf *a, const struct mt_elf *b)
{
	if (a->segments.count != b->segments.count)
		return false;
	for (size_t i = 0; i < a->segments.count; i++) {
		const struct mt_segment *x = &a->segments.items[i], *y = &b->segments.items[i];

		if (x->vaddr != y->vaddr || x->memory_size != y->memory_size ||
		    x->offset != y->offset || x->file_size != y->file_size || x->flags != y->flags)
			return false;
	}
	return true;
}

static bool same_build_id(const struct mt_elf *a, const struct mt_elf *b)
{
	struct mt_span x = mt_elf_build_id(a), y = mt_elf_build_id(b);

	return x.size == y.size && (!x.size || !memcmp(x.bytes, y.bytes, x.size));
}

static bool same_frames(const struct mt_elf *a, const struct mt_elf *b)
{
	struct mt_span x = named_section(a, ".eh_frame"), y = named_section(b, ".eh_frame");

	return !x.bytes || !y.bytes || (x.size == y.size && x.vaddr == y.vaddr);
}

static bool fits(const struct merge *m, const struct mt_elf *elf)
{
	const struct mt_elf *first;

	if (!elf->sections.count || elf->sections.count > SECTIONS_MAX)
		return false;
	if (!m->parts.count)
		return true;
	first = m->parts.items[0];
	return elf->is_64 == first->is_64 && elf->machine == first->machine &&
	       elf->type == first->type && same_segments(elf, first) && same_build_id(elf, first) &&
	       same_frames(elf, first);
}

/* False out of memory. */
static bool add_part(struct merge *m, struct mt_span bytes, struct mt_error **err)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_error *failed =
		mt_elf_open_skeleton(bytes.bytes, bytes.size, "carried image", &elf);
	struct mt_elf **slot;

	if (failed) {
		mt_error_destroy(*err);
		*err = failed;
		return failed->kind != MT_ERR_NOMEM;
	}
	if (!fits(m, elf))
		return true;
	slot = mt_array_push(&m->parts);
	if (slot)
		*slot = MT_TAKE(elf);
	return slot;
}

static struct mt_error *open_parts(struct merge *m, const struct mt_span *parts, size_t count)
{
	struct mt_error *err = NULL;
	bool good = true;

	for (size_t i = 0; i < count && good; i++) {
		if (parts[i].bytes)
			good = add_part(m, parts[i], &err);
	}
	if (good && !m->parts.count && !err)
		err = mt_error_create(MT_ERR_FORMAT, "carried image: no sections");
	if (good && !m->parts.count)
		return err;
	mt_error_destroy(err);
	return good ? NULL : mt_error_nomem();
}

/* ---- Sections ---- */

/* Those of the first, in which no byte is in two: what is not so, or not there, has none. */
static bool copy_sections(struct merge *m)
{
	const struct mt_elf *first = m->parts.items[0];
	size_t left = first->size;

	for (size_t i = 0; i < first->sections.count; i++) {
		struct mt_span raw = mt_elf_raw_section(first, i);
		struct section *section = mt_array_push(&m->sections);

		if (!section)
			return false;
		section->header = first->sections.items[i];
		if (section->header.type == SHT_NOBITS || section->header.type == SHT_NULL)
			continue;
		if (!raw.bytes || raw.size > left) {
			section->header = (struct mt_elf_section_header){.type = SHT_NOBITS};
			continue;
		}
		section->first = raw.bytes;
		left -= raw.size;
	}
	return true;
}

static bool put_name(struct merge *m, const void *bytes, size_t size)
{
	if (!mt_array_reserve(&m->names, m->names.count + size))
		return false;
	if (size)
		memcpy(m->names.items + m->names.count, bytes, size);
	m->names.count += size;
	return true;
}

/* A new section behind all others; 0 out of memory. */
static size_t add_section(struct merge *m, const char *name)
{
	struct mt_span names = m->parts.items[0]->section_names;
	struct section *section;
	size_t at;

	if (!m->names.count &&
	    (!put_name(m, names.bytes, names.bytes ? names.size : 0) || !put_name(m, "", 1)))
		return 0;
	at = m->names.count;
	section = put_name(m, name, strlen(name) + 1) ? mt_array_push(&m->sections) : NULL;
	if (!section)
		return 0;
	section->header.name = (uint32_t)at;
	section->header.align = 8;
	return m->sections.count - 1;
}

/* Where the first has it, if without bytes, or a new one; 0 out of memory. */
static size_t section_for(struct merge *m, const char *name)
{
	size_t i = mt_elf_find_section(m->parts.items[0], name);

	return i ? i : add_section(m, name);
}

/* Takes bytes. */
static void set_content(struct merge *m, size_t i, uint32_t type, uint8_t *bytes, size_t size)
{
	struct section *section = &m->sections.items[i];

	free(section->bytes);
	section->bytes = bytes;
	section->header.type = type;
	section->header.size = size;
	section->header.flags &= ~(uint64_t)SHF_COMPRESSED;
}

/* ---- Unwind tables and calls ---- */

/* Those of all parts that have it; from: the first of them. NULL out of memory. */
static struct mt_span *spans_of(const struct merge *m, const char *name, size_t *count,
				size_t *from)
{
	struct mt_span *spans = calloc(m->parts.count, sizeof(*spans));

	*count = 0;
	for (size_t i = 0; spans && i < m->parts.count; i++) {
		spans[*count] = named_section(m->parts.items[i], name);
		if (!spans[*count].bytes || !spans[*count].size)
			continue;
		if (!*count)
			*from = i;
		++*count;
	}
	return spans;
}

/* Whether there is more than the first part has. */
static bool worth_it(size_t count, size_t from)
{
	return count > 1 || (count && from);
}

/* Parts without unwind tables fit whatever others have: those that differ are left out. */
static void keep_alike(struct mt_span *spans, size_t *count)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		if (spans[i].size == spans[0].size && spans[i].vaddr == spans[0].vaddr)
			spans[kept++] = spans[i];
	}
	*count = kept;
}

static bool merge_frames(struct merge *m)
{
	size_t count, from = 0, at;
	MT_CLEANUP_FREE struct mt_span *spans = spans_of(m, ".eh_frame", &count, &from);
	uint8_t *bytes;

	if (!spans)
		return false;
	keep_alike(spans, &count);
	if (!worth_it(count, from) || spans[0].size > UINT32_MAX / 2)
		return true;
	at = section_for(m, ".eh_frame");
	if (!at || !mt_skeleton_frames_merge(spans, count, &bytes))
		return false;
	set_content(m, at, SHT_PROGBITS, bytes, spans[0].size);
	m->sections.items[at].header.vaddr = spans[0].vaddr;
	m->sections.items[at].header.flags |= SHF_ALLOC;
	return true;
}

static size_t aligned(size_t at)
{
	return (at + 7) & ~(size_t)7;
}

/* One set behind the other. */
static bool merge_calls(struct merge *m)
{
	size_t count, from = 0, at, size = 0;
	MT_CLEANUP_FREE struct mt_span *spans = spans_of(m, MT_CALL_SET_SECTION, &count, &from);
	uint8_t *bytes;

	if (!spans)
		return false;
	if (!worth_it(count, from))
		return true;
	for (size_t i = 0; i < count; i++)
		size = aligned(size) + spans[i].size;
	at = section_for(m, MT_CALL_SET_SECTION);
	bytes = at ? calloc(1, size) : NULL;
	if (!bytes)
		return false;
	set_content(m, at, SHT_PROGBITS, bytes, size);
	for (size_t i = 0, to = 0; i < count; i++) {
		to = aligned(to);
		memcpy(bytes + to, spans[i].bytes, spans[i].size);
		to += spans[i].size;
	}
	return true;
}

/* ---- Symbols ---- */

struct symbols {
	uint8_t *bytes, *names;
	size_t each, count, names_size;
	struct mt_map64 known; /* a hash, or the next free number after it: the index */
};

static void symbols_deinit(struct symbols *symbols)
{
	free(symbols->bytes);
	free(symbols->names);
	mt_map64_deinit(&symbols->known);
}

/*
 * The same symbol as one that is there. `left` bounds what is read of names: those of a skeleton
 * stand once each, but others may have millions that are one long name.
 */
static bool note_symbol(struct symbols *symbols, const uint8_t *symbol, size_t *left, bool *there)
{
	const char *name = (const char *)symbols->names + mt_get_le32(symbol);
	size_t length = strnlen(name, *left);
	uint64_t key, i;

	*there = false;
	*left -= length < *left ? length + 1 : length;
	if (!*left && symbols->names[mt_get_le32(symbol) + length])
		return true;
	key = mt_hash_bytes(symbol + 4, symbols->each - 4, mt_hash_bytes(name, length, 0));
	for (int n = 0; n < PROBES; n++, key++) {
		const uint8_t *other;

		if (!mt_map64_get(&symbols->known, key, &i))
			return mt_map64_put(&symbols->known, key, symbols->count);
		other = symbols->bytes + i * symbols->each;
		*there = !memcmp(other + 4, symbol + 4, symbols->each - 4) &&
			 !strncmp((char *)symbols->names + mt_get_le32(other), name, length + 1);
		if (*there)
			break;
	}
	return true;
}

/*
 * Appends a table. Of the first all symbols keep their numbers, which relocations name; of others
 * what is not there yet, and not the null symbol.
 */
static bool append_symbols(struct symbols *symbols, const struct mt_elf_symbol_table *table)
{
	size_t names_at = symbols->names_size, left = table->names_size;
	bool first = !symbols->count, there;

	memcpy(symbols->names + names_at, table->names, table->names_size);
	symbols->names_size += table->names_size;
	for (size_t i = !first; i < table->count; i++) {
		uint8_t *at = symbols->bytes + symbols->count * symbols->each;
		uint32_t name;

		memcpy(at, table->bytes + i * table->stride, symbols->each);
		name = mt_get_le32(at);
		if (name >= table->names_size && !first)
			continue;
		name = name < table->names_size ? name + (uint32_t)names_at : 0;
		mt_put_le32(at, name);
		if (!note_symbol(symbols, at, &left, &there))
			return false;
		symbols->count += first || !there;
	}
	return true;
}

static bool has_symbols(const struct mt_elf_symbol_table *table)
{
	return table->count && table->names_size && table->names_size <= UINT32_MAX;
}

/* Sums up what all parts have; from: the first of them. */
static size_t measure_symbols(const struct merge *m, bool dynamic, struct symbols *sum,
			      size_t *from)
{
	size_t tables = 0;

	for (size_t i = 0; i < m->parts.count; i++) {
		const struct mt_elf_symbol_table *table =
			mt_elf_symbol_table(m->parts.items[i], dynamic);

		if (!has_symbols(table))
			continue;
		if (!tables++)
			*from = i;
		sum->count += table->count;
		sum->names_size += table->names_size;
	}
	return tables;
}

static bool collect_symbols(const struct merge *m, bool dynamic, struct symbols *out)
{
	out->bytes = malloc(out->count * out->each);
	out->names = malloc(out->names_size);
	out->count = out->names_size = 0;
	if (!out->bytes || !out->names)
		return false;
	for (size_t i = 0; i < m->parts.count; i++) {
		const struct mt_elf_symbol_table *table =
			mt_elf_symbol_table(m->parts.items[i], dynamic);

		if (!has_symbols(table) || out->names_size + table->names_size > UINT32_MAX)
			continue;
		if (!append_symbols(out, table))
			return false;
	}
	return true;
}

static size_t section_of_type(const struct merge *m, uint32_t type)
{
	for (size_t i = 1; i < m->sections.count; i++) {
		if (m->sections.items[i].header.type == type)
			return i;
	}
	return 0;
}

/* The section of its strings, unless that is something else's, too; or a new one. */
static size_t strings_for(struct merge *m, size_t table, bool dynamic)
{
	size_t link = m->sections.items[table].header.link;

	if (link && link < m->sections.count && m->sections.items[link].header.type == SHT_STRTAB &&
	    !m->sections.items[link].bytes)
		return link;
	return add_section(m, dynamic ? ".dynstr" : ".strtab");
}

static bool place_symbols(struct merge *m, bool dynamic, struct symbols *symbols)
{
	uint32_t type = dynamic ? SHT_DYNSYM : SHT_SYMTAB;
	size_t at = section_of_type(m, type), strings;

	if (!at)
		at = section_for(m, dynamic ? ".dynsym" : ".symtab");
	strings = at ? strings_for(m, at, dynamic) : 0;
	if (!strings)
		return false;
	set_content(m, at, type, MT_TAKE(symbols->bytes), symbols->count * symbols->each);
	set_content(m, strings, SHT_STRTAB, MT_TAKE(symbols->names), symbols->names_size);
	m->sections.items[at].header.link = (uint32_t)strings;
	m->sections.items[at].header.entry_size = symbols->each;
	return true;
}

static bool merge_symbols(struct merge *m, bool dynamic)
{
	struct symbols symbols = {.each = m->parts.items[0]->is_64 ? sizeof(Elf64_Sym)
								   : sizeof(Elf32_Sym)};
	size_t from = 0, count = measure_symbols(m, dynamic, &symbols, &from);
	bool good = !worth_it(count, from) ||
		    (collect_symbols(m, dynamic, &symbols) && place_symbols(m, dynamic, &symbols));

	if (dynamic && count)
		m->base = m->parts.items[from];
	symbols_deinit(&symbols);
	return good;
}

/* ---- What is whole in each that has it ---- */

static bool is_merged(const struct merge *m, const struct mt_elf *part, size_t i)
{
	uint32_t type = part->sections.items[i].type;
	const char *name = section_name(part, i);

	return type == SHT_SYMTAB || type == SHT_DYNSYM || type == SHT_STRTAB ||
	       ((type == SHT_RELA || type == SHT_REL) && part != m->base) ||
	       !strcmp(name, ".eh_frame") || !strcmp(name, MT_CALL_SET_SECTION);
}

/* Sections of the original that a part has and the first has not: it was wished for less. */
static bool adopt_sections(struct merge *m, const struct mt_elf *part)
{
	const struct mt_elf *first = m->parts.items[0];
	size_t left = part->size; /* sections may overlap, but not in a skeleton */

	for (size_t i = 1; i < first->sections.count && i < part->sections.count; i++) {
		struct section *section = &m->sections.items[i];
		struct mt_span raw = mt_elf_raw_section(part, i);
		uint8_t *bytes;

		if (first->sections.items[i].type != SHT_NOBITS || section->bytes || !raw.bytes ||
		    !raw.size || raw.size > left || is_merged(m, part, i) ||
		    section->header.vaddr != raw.vaddr ||
		    strcmp(section_name(first, i), section_name(part, i)) != 0)
			continue;
		bytes = malloc(raw.size);
		if (!bytes)
			return false;
		memcpy(bytes, raw.bytes, raw.size);
		left -= raw.size;
		set_content(m, i, part->sections.items[i].type, bytes, raw.size);
		section->header.flags = part->sections.items[i].flags;
	}
	return true;
}

static bool adopt_all(struct merge *m)
{
	for (size_t i = 1; i < m->parts.count; i++) {
		if (!adopt_sections(m, m->parts.items[i]))
			return false;
	}
	return true;
}

/* ---- Writing ---- */

/* Section names are anew where there are new ones. */
static bool finish_names(struct merge *m)
{
	size_t at, size;
	uint8_t *bytes;

	if (!m->names.count)
		return true;
	at = add_section(m, ".shstrtab");
	size = m->names.count;
	bytes = at ? malloc(size) : NULL;
	if (!bytes)
		return false;
	memcpy(bytes, m->names.items, size);
	set_content(m, at, SHT_STRTAB, bytes, size);
	return true;
}

/* A skeleton has PT_LOAD alone. */
static size_t segment_count(const struct mt_elf *elf)
{
	return elf->segments.count < PN_XNUM ? elf->segments.count : PN_XNUM - 1;
}

static size_t headers_size(const struct mt_elf *elf)
{
	return elf->is_64 ? sizeof(Elf64_Ehdr) + segment_count(elf) * sizeof(Elf64_Phdr)
			  : sizeof(Elf32_Ehdr) + segment_count(elf) * sizeof(Elf32_Phdr);
}

static const uint8_t *content_of(const struct section *section)
{
	return section->bytes ? section->bytes : section->first;
}

/* Says where everything stands. Gives where the headers of sections do. */
static size_t lay_out(struct merge *m)
{
	size_t at = aligned(headers_size(m->parts.items[0]));

	for (size_t i = 0; i < m->sections.count; i++) {
		struct section *section = &m->sections.items[i];

		if (!content_of(section))
			continue;
		section->header.offset = at;
		at = aligned(at + section->header.size);
	}
	return at;
}

/* The file's own, as the first has it but for where things stand, and those of segments. */
static void put_headers(const struct merge *m, uint8_t *at, size_t sections_at)
{
	const struct mt_elf *first = m->parts.items[0];
	bool wide = first->is_64;
	size_t size = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	uint8_t *sizes = at + size - 12; /* from e_ehsize on: six of 16 bits */

	memcpy(at, first->bytes, size);
	mt_elf_put_word(wide, mt_elf_put_word(wide, at + (wide ? 32 : 28), size), sections_at);
	mt_put_le16(sizes, (uint16_t)size);
	mt_put_le16(sizes + 2, wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
	mt_put_le16(sizes + 4, (uint16_t)segment_count(first));
	mt_put_le16(sizes + 6, wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	mt_put_le16(sizes + 8, (uint16_t)m->sections.count);
	if (m->names.count)
		mt_put_le16(sizes + 10, (uint16_t)(m->sections.count - 1));
	at += size;
	for (size_t i = 0; i < segment_count(first); i++)
		at = mt_elf_put_segment(wide, &first->segments.items[i], at);
}

static struct mt_error *write_all(struct merge *m, uint8_t **out, size_t *size)
{
	bool wide = m->parts.items[0]->is_64;
	size_t each = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), at = lay_out(m);
	size_t whole = at + m->sections.count * each;
	uint8_t *bytes = calloc(1, whole);

	if (!bytes)
		return mt_error_nomem();
	put_headers(m, bytes, at);
	for (size_t i = 0; i < m->sections.count; i++) {
		const struct section *section = &m->sections.items[i];

		if (content_of(section) && section->header.size)
			memcpy(bytes + section->header.offset, content_of(section),
			       section->header.size);
		mt_elf_put_section_header(wide, &section->header, bytes + at + i * each);
	}
	*out = bytes;
	*size = whole;
	return NULL;
}

struct mt_error *mt_skeleton_merge(const struct mt_span *parts, size_t count, uint8_t **out,
				   size_t *size)
{
	struct merge m = {0};
	struct mt_error *err = open_parts(&m, parts, count);

	if (!err && !(copy_sections(&m) && merge_frames(&m) && merge_calls(&m) &&
		      merge_symbols(&m, false) && merge_symbols(&m, true) && adopt_all(&m) &&
		      finish_names(&m)))
		err = mt_error_nomem();
	if (!err)
		err = write_all(&m, out, size);
	merge_deinit(&m);
	return err;
}
