/*
 * Sections of an ELF file by name, decompressed if needed. Without section headers finds the unwind
 * tables through PT_GNU_EH_FRAME.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
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

/* Decompresses section i into a new node; bytes stay NULL if that fails. NULL out of memory. */
static struct mt_elf_inflated *inflate_section(struct mt_elf *elf, size_t i)
{
	struct mt_span raw = mt_elf_raw_section(elf, i);
	struct mt_cursor c = mt_cursor_init(raw.bytes, raw.bytes ? raw.size : 0);
	struct mt_elf_inflated *node = calloc(1, sizeof(*node));
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	uint32_t type;
	uint64_t size;
	bool header;

	if (!node)
		return NULL;
	node->section = i;
	header = is_zdebug(elf, &elf->sections.items[i])
			 ? read_zdebug_header(&c, &type, &size)
			 : read_compression_header(elf, &c, &type, &size);
	if (!elf->codec || !header || !size || !take_budget(elf, size))
		return node;
	bytes = malloc(size);
	if (bytes && elf->codec->inflate(type, c.pos, mt_cursor_left(&c), bytes, size)) {
		node->size = size;
		node->bytes = MT_TAKE(bytes);
	}
	return node;
}

static struct mt_span inflated_section(struct mt_elf *elf, size_t i)
{
	struct mt_elf_inflated *node;
	struct mt_span span = {.vaddr = elf->sections.items[i].vaddr};

	pthread_mutex_lock(&elf->lock);
	for (node = elf->inflated; node && node->section != i; node = node->next)
		;
	if (!node) {
		node = inflate_section(elf, i);
		if (node) {
			node->next = elf->inflated;
			elf->inflated = node;
		}
	}
	pthread_mutex_unlock(&elf->lock);
	if (node && node->bytes) {
		span.bytes = node->bytes;
		span.size = node->size;
	}
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

static struct mt_span eh_frame_hdr_of_segments(const struct mt_elf *elf)
{
	for (size_t i = 0; i < elf->headers.count; i++) {
		const struct mt_elf_program_header *p = &elf->headers.items[i];
		const uint8_t *bytes;

		if (p->type != PT_GNU_EH_FRAME)
			continue;
		bytes = mt_elf_file_bytes(elf, p->offset, p->file_size);
		if (bytes && p->file_size)
			return (struct mt_span){
				.bytes = bytes, .size = p->file_size, .vaddr = p->vaddr};
	}
	return (struct mt_span){0};
}

/* Reads the encoded pointer to .eh_frame in .eh_frame_hdr, in the encodings that linkers write. */
static bool eh_frame_address(const struct mt_span *hdr, uint64_t *vaddr)
{
	enum {
		ABSPTR = 0x00,
		UDATA4 = 0x03,
		UDATA8 = 0x04,
		SDATA4 = 0x0b,
		SDATA8 = 0x0c,
		PCREL = 0x10,
		DATAREL = 0x30
	};
	struct mt_cursor c = mt_cursor_init(hdr->bytes, hdr->size);
	uint8_t version = mt_cursor_u8(&c), encoding = mt_cursor_u8(&c);
	uint64_t base = 0, value = 0;

	mt_cursor_u16(&c); /* the encodings of the count and of the table */
	switch (encoding & 0x0f) {
	case UDATA4:
		value = mt_cursor_u32(&c);
		break;
	case SDATA4:
		value = (uint64_t)(int64_t)(int32_t)mt_cursor_u32(&c);
		break;
	case ABSPTR:
	case UDATA8:
	case SDATA8:
		value = mt_cursor_u64(&c);
		break;
	default:
		return false;
	}
	switch (encoding & 0xf0) {
	case 0:
		break;
	case PCREL:
		base = hdr->vaddr + 4;
		break;
	case DATAREL:
		base = hdr->vaddr;
		break;
	default:
		return false;
	}
	*vaddr = base + value;
	return version == 1 && !c.bad;
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
	hdr = eh_frame_hdr_of_segments(elf);
	if (!strcmp(name, ".eh_frame_hdr"))
		return hdr;
	if (!hdr.bytes || !eh_frame_address(&hdr, &vaddr))
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
