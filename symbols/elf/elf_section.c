/*
 * Sections of an ELF file by name, decompressed if needed. If there are no section headers, finds
 * the unwind tables through PT_GNU_EH_FRAME.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "symbols/elf/cfi_entry.h"
#include "symbols/elf/elf_private.h"

/*
 * Bounds on the decompressed size of all sections of a file: a ratio to the size of the file, plus
 * a constant, up to a maximum. Debug information shrinks to a third or a tenth; a claim beyond this
 * is a decompression bomb.
 */
#define INFLATED_RATIO 32
#define INFLATED_ANY (UINT64_C(4) << 20)
#define INFLATED_MAX (UINT64_C(4) << 30)

static const char *section_name(const struct mt_elf *elf, const struct mt_elf_section_header *s)
{
	struct mt_cursor c = mt_cursor_init(elf->section_names.bytes, elf->section_names.size);
	const char *name;

	mt_cursor_bytes(&c, s->name);
	name = c.bad || !c.pos ? NULL : mt_cursor_cstring(&c);
	return name ? name : "";
}

bool mt_elf_section_info(const struct mt_elf *elf, size_t i, struct mt_elf_section_info *out)
{
	const struct mt_elf_section_header *s;

	if (i >= elf->sections.count)
		return false;
	s = &elf->sections.items[i];
	*out = (struct mt_elf_section_info){
		.name = section_name(elf, s),
		.vaddr = s->vaddr,
		.offset = s->offset,
		.size = s->size,
		.entry_size = s->entry_size,
		.type = s->type,
		.flags = s->flags,
	};
	return true;
}

size_t mt_elf_find_section(const struct mt_elf *elf, const char *name)
{
	for (size_t i = 1; i < elf->sections.count; i++) {
		if (!strcmp(section_name(elf, &elf->sections.items[i]), name))
			return i;
	}
	return 0;
}

size_t mt_elf_section_at(const struct mt_elf *elf, uint64_t vaddr, size_t after)
{
	for (size_t i = after + 1; i < elf->sections.count; i++) {
		if (vaddr - elf->sections.items[i].vaddr < elf->sections.items[i].size)
			return i;
	}
	return 0;
}

struct mt_span mt_elf_raw_section(const struct mt_elf *elf, size_t i)
{
	const struct mt_elf_section_header *s = &elf->sections.items[i];
	const uint8_t *bytes =
		s->type == SHT_NOBITS ? NULL : mt_elf_file_bytes(elf, s->offset, s->size);

	return (struct mt_span){.bytes = bytes, .size = bytes ? s->size : 0, .vaddr = s->vaddr};
}

/* Reads the compression header of an SHF_COMPRESSED section; false if it is truncated. */
static bool read_compression_header(const struct mt_elf *elf, struct mt_cursor *c, uint32_t *type,
				    uint64_t *size)
{
	*type = mt_cursor_u32(c);
	if (elf->is_64)
		mt_cursor_u32(c); /* ch_reserved */
	*size = elf->is_64 ? mt_cursor_u64(c) : mt_cursor_u32(c);
	if (elf->is_64)
		mt_cursor_u64(c); /* ch_addralign */
	else
		mt_cursor_u32(c);
	return !c->bad;
}

/* The form before SHF_COMPRESSED: sections called .zdebug_*, with "ZLIB" and a big-endian size. */
static bool is_zdebug(const struct mt_elf *elf, const struct mt_elf_section_header *s)
{
	return s->type != SHT_NOBITS && !strncmp(section_name(elf, s), ".zdebug_", 8);
}

static bool read_zdebug_header(struct mt_cursor *c, uint32_t *type, uint64_t *size)
{
	const uint8_t *magic = mt_cursor_bytes(c, 4);

	*type = ELFCOMPRESS_ZLIB;
	*size = __builtin_bswap64(mt_cursor_u64(c));
	return !c->bad && !memcmp(magic, "ZLIB", 4);
}

/* True if `size` more bytes may be decompressed; counts them. */
static bool take_budget(struct mt_elf *elf, uint64_t size)
{
	uint64_t budget = elf->size * INFLATED_RATIO + INFLATED_ANY;

	if (budget > INFLATED_MAX)
		budget = INFLATED_MAX;
	if (size > budget - elf->inflated_size)
		return false;
	elf->inflated_size += size;
	return true;
}

/* Decompresses section i into a new element, whose bytes stay NULL if that fails. */
static const struct mt_elf_inflated *inflate_section(struct mt_elf *elf, size_t i)
{
	struct mt_span raw = mt_elf_raw_section(elf, i);
	struct mt_cursor c = mt_cursor_init(raw.bytes, raw.bytes ? raw.size : 0);
	struct mt_elf_inflated *made = mt_array_push(&elf->inflated);
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	uint32_t type;
	uint64_t size;
	bool header;

	if (!made)
		return NULL;
	made->section = i;
	header = is_zdebug(elf, &elf->sections.items[i])
			 ? read_zdebug_header(&c, &type, &size)
			 : read_compression_header(elf, &c, &type, &size);
	if (!elf->codec || !header || !size || !take_budget(elf, size))
		return made;
	bytes = malloc(size);
	if (bytes && elf->codec->inflate(type, c.pos, mt_cursor_left(&c), bytes, size)) {
		made->size = size;
		made->bytes = MT_TAKE(bytes);
	}
	return made;
}

static struct mt_span inflated_section(struct mt_elf *elf, size_t i)
{
	struct mt_span span = {.vaddr = elf->sections.items[i].vaddr};
	const struct mt_elf_inflated *made = NULL;

	pthread_mutex_lock(&elf->lock);
	for (size_t k = 0; k < elf->inflated.count && !made; k++)
		made = elf->inflated.items[k].section == i ? &elf->inflated.items[k] : NULL;
	if (!made)
		made = inflate_section(elf, i);
	if (made && made->bytes) {
		span.bytes = made->bytes;
		span.size = made->size;
	}
	pthread_mutex_unlock(&elf->lock);
	return span;
}

struct mt_span mt_elf_section_bytes(struct mt_elf *elf, size_t i)
{
	const struct mt_elf_section_header *s = &elf->sections.items[i];

	if ((s->type != SHT_NOBITS && s->flags & SHF_COMPRESSED) || is_zdebug(elf, s))
		return inflated_section(elf, i);
	return mt_elf_raw_section(elf, i);
}

/* The file's bytes from a link-time address up to the end of its segment or of the file. */
static struct mt_span bytes_from(const struct mt_elf *elf, uint64_t vaddr)
{
	const uint8_t *bytes;

	for (size_t i = 0; i < elf->segments.count; i++) {
		const struct mt_segment *s = &elf->segments.items[i];
		uint64_t into = vaddr - s->vaddr, size;

		if (vaddr < s->vaddr || into >= s->file_size || s->offset + into >= elf->size)
			continue;
		size = s->file_size - into;
		if (size > elf->size - (s->offset + into))
			size = elf->size - (s->offset + into);
		bytes = mt_elf_file_bytes(elf, s->offset + into, size);
		return (struct mt_span){.bytes = bytes, .size = bytes ? size : 0, .vaddr = vaddr};
	}
	return (struct mt_span){0};
}

size_t mt_elf_section_of_type(const struct mt_elf *elf, uint32_t type)
{
	for (size_t i = 1; i < elf->sections.count; i++) {
		if (elf->sections.items[i].type == type)
			return i;
	}
	return 0;
}

struct mt_span mt_elf_header_bytes(const struct mt_elf *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->headers.count; i++) {
		const struct mt_segment *p = &elf->headers.items[i];
		const uint8_t *bytes;

		if (p->type != type)
			continue;
		bytes = mt_elf_file_bytes(elf, p->offset, p->file_size);
		return (struct mt_span){bytes, bytes ? p->file_size : 0, p->vaddr};
	}
	return (struct mt_span){0};
}

/* Reads the encoded pointer to .eh_frame in .eh_frame_hdr. */
static bool eh_frame_address(struct mt_span hdr, uint64_t *vaddr)
{
	const struct mt_cfi_section section = {.span = hdr, .data_base = hdr.vaddr};
	struct mt_cursor c = mt_cursor_init(hdr.bytes, hdr.size);
	uint8_t version = mt_cursor_u8(&c), encoding = mt_cursor_u8(&c);

	mt_cursor_u16(&c); /* the encodings of the count and of the table */
	return version == 1 && mt_cfi_pointer_read(&c, encoding, &section, 0, vaddr);
}

/* The sections that can also be found through program headers. */
static struct mt_span section_of_segments(const struct mt_elf *elf, const char *name)
{
	struct mt_span hdr;
	uint64_t vaddr;

	if (elf->skeleton)
		return (struct mt_span){0};
	if (strcmp(name, ".eh_frame_hdr") && strcmp(name, ".eh_frame"))
		return (struct mt_span){0};
	hdr = mt_elf_header_bytes(elf, PT_GNU_EH_FRAME);
	if (!strcmp(name, ".eh_frame_hdr"))
		return hdr;
	if (!hdr.bytes || !eh_frame_address(hdr, &vaddr))
		return (struct mt_span){0};
	return bytes_from(elf, vaddr);
}

struct mt_span mt_elf_own_section(struct mt_elf *elf, const char *name)
{
	size_t i = mt_elf_find_section(elf, name);
	char zdebug[40];

	if (!i && !strncmp(name, ".debug_", 7) && strlen(name) + 2 < sizeof(zdebug)) {
		snprintf(zdebug, sizeof(zdebug), ".z%s", name + 1);
		i = mt_elf_find_section(elf, zdebug);
	}
	return i ? mt_elf_section_bytes(elf, i) : section_of_segments(elf, name);
}

struct mt_span mt_elf_section(struct mt_elf *elf, const char *name)
{
	struct mt_span span = mt_elf_own_section(elf, name), other;

	for (size_t i = 0; !span.bytes && i < elf->further.count; i++) {
		other = mt_elf_own_section(elf->further.items[i], name);
		if (other.bytes)
			span = other;
	}
	return span;
}
