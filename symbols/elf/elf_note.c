/*
 * Reads the build id from an ELF file's notes. Programs linked by Go's own linker before 1.24 have
 * no GNU build id, but a Go build id, a text of four hashes. The last hash is that of the file's
 * content.
 */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/cursor.h"
#include "symbols/elf/elf_private.h"

/* Skips to the next multiple of align from the start of the notes, or to the end. */
static void skip_padding(struct mt_cursor *c, const uint8_t *start, size_t align)
{
	size_t pad = (align - (size_t)(c->pos - start) % align) % align;

	mt_cursor_bytes(c, pad < mt_cursor_left(c) ? pad : mt_cursor_left(c));
}

/* A kind of build id: owner and type of its note. */
struct kind {
	char owner[4];
	uint32_t type;
};

static const struct kind gnu = {"GNU", NT_GNU_BUILD_ID}, go = {"Go", 4};

/*
 * The part of a build id that is compared: the end of a Go build id, which has the hash of the
 * content; the start of others.
 */
static struct mt_span part_of_id(const struct kind *kind, const uint8_t *id, size_t size)
{
	size_t part = size < MT_BUILD_ID_MAX ? size : MT_BUILD_ID_MAX;

	return (struct mt_span){.bytes = kind == &go ? id + size - part : id, .size = part};
}

/*
 * The build id of that kind among the notes. Names and contents are padded to 8 bytes if the notes
 * are aligned to 8, otherwise to 4.
 */
static struct mt_span build_id_of_notes(const struct kind *kind, const uint8_t *bytes, size_t size,
					uint64_t align)
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
		if (desc && desc_size && type == kind->type && name_size == sizeof(kind->owner) &&
		    !memcmp(name, kind->owner, sizeof(kind->owner)))
			return part_of_id(kind, desc, desc_size);
	}
	return (struct mt_span){0};
}

static struct mt_span build_id_of_segments(const struct mt_elf *elf, const struct kind *kind)
{
	struct mt_span id = {0};

	for (size_t i = 0; i < elf->headers.count && !id.bytes; i++) {
		const struct mt_segment *p = &elf->headers.items[i];
		const uint8_t *bytes =
			p->type == PT_NOTE ? mt_elf_file_bytes(elf, p->offset, p->file_size) : NULL;

		if (bytes)
			id = build_id_of_notes(kind, bytes, p->file_size, p->align);
	}
	return id;
}

static struct mt_span build_id_of_sections(const struct mt_elf *elf, const struct kind *kind)
{
	struct mt_span id = {0}, raw;

	for (size_t i = 0; i < elf->sections.count && !id.bytes; i++) {
		if (elf->sections.items[i].type != SHT_NOTE)
			continue;
		raw = mt_elf_raw_section(elf, i);
		if (raw.bytes)
			id = build_id_of_notes(kind, raw.bytes, raw.size,
					       elf->sections.items[i].align);
	}
	return id;
}

static struct mt_span build_id_of_kind(const struct mt_elf *elf, const struct kind *kind)
{
	struct mt_span id = elf->type == ET_CORE || elf->skeleton ? (struct mt_span){0}
								  : build_id_of_segments(elf, kind);

	return id.bytes ? id : build_id_of_sections(elf, kind);
}

struct mt_span mt_elf_build_id(const struct mt_elf *elf)
{
	struct mt_span id = build_id_of_kind(elf, &gnu);

	return id.bytes ? id : build_id_of_kind(elf, &go);
}

bool mt_elf_has_build_id(const struct mt_elf *elf, const uint8_t *id, size_t size)
{
	struct mt_span own = mt_elf_build_id(elf);

	return own.size == size && (!size || !memcmp(own.bytes, id, size));
}

void mt_build_id_hex(const uint8_t *id, size_t size, char *out)
{
	*out = '\0';
	for (size_t i = 0; i < size; i++)
		snprintf(out + 2 * i, 3, "%02x", id[i]);
}

char *mt_debug_file_path(const char *directory, const uint8_t *id, size_t size)
{
	char hex[2 * MT_BUILD_ID_MAX + 1], *path;

	if (size < 2 || size > MT_BUILD_ID_MAX)
		return NULL;
	mt_build_id_hex(id, size, hex);
	return asprintf(&path, "%s/.build-id/%.2s/%s.debug",
			directory ? directory : "/usr/lib/debug", hex, hex + 2) < 0
		       ? NULL
		       : path;
}

bool mt_elf_is_go(const struct mt_elf *elf)
{
	return mt_elf_find_section(elf, ".note.go.buildid") ||
	       mt_elf_find_section(elf, ".go.buildinfo");
}

bool mt_is_go_build_id(const uint8_t *id, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!id[i] || (!isalnum(id[i]) && !strchr("-_/", id[i])))
			return false;
	}
	return size == MT_BUILD_ID_MAX;
}
