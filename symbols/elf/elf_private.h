/*
 * The checked headers of one ELF file, shared by the files that read ELF or write skeletons, and
 * private to these files.
 */
#ifndef MT_SYMBOLS_ELF_ELF_PRIVATE_H
#define MT_SYMBOLS_ELF_ELF_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/elf_input.h"

struct mt_elf_copy;

struct mt_elf_section_header {
	uint32_t name; /* offset in section_names */
	uint32_t type; /* SHT_* */
	uint32_t link, info;
	uint64_t flags, vaddr, offset, size, align, entry_size;
};

/* A decompressed section, kept until the file is closed. */
struct mt_elf_inflated {
	size_t section;
	uint8_t *bytes; /* NULL: decompression failed */
	size_t size;
};

struct mt_elf_symbol_table {
	bool tried;
	const uint8_t *bytes;
	size_t count;
	size_t stride;
	const char *names; /* a NUL follows every name */
	size_t names_size;
};

struct mt_elf {
	const uint8_t *bytes;
	size_t size;
	bool mapped;		  /* bytes are unmapped on destroy */
	struct mt_elf_copy *copy; /* owner of the bytes, or NULL */
	/* called before bytes are read, while mt_elf_open_front() runs; else NULL */
	const struct mt_elf_input *front;
	bool skeleton; /* the segments' bytes are absent */
	bool is_64;
	uint16_t type, machine;
	char *name; /* for messages */
	MT_ARRAY(struct mt_segment) headers;
	MT_ARRAY(struct mt_segment) segments; /* the PT_LOAD of headers */
	MT_ARRAY(struct mt_elf_section_header) sections;
	struct mt_span section_names;
	const struct mt_elf_codec *codec;
	pthread_mutex_t lock; /* guards the parts made on first use: inflated, tables */
	MT_ARRAY(struct mt_elf_inflated) inflated;
	uint64_t inflated_size;		      /* total bytes, including failed sections */
	struct mt_elf_symbol_table tables[2]; /* .symtab, .dynsym */
	MT_ARRAY(struct mt_elf *) further;    /* more pieces of the image (elf_pieces.c) */
	/* merged tables of all pieces, freed on destroy; or NULL */
	uint8_t *joined[2];
};

/*
 * Reads a range of the file into the copy; bytes that the file does not have any more are zeros.
 * False if more than 256 MiB would be read in total. Thread-safe.
 */
bool mt_elf_copy_need(struct mt_elf_copy *copy, uint64_t offset, uint64_t size);

/* Like mt_elf_section(), for this piece only. */
struct mt_span mt_elf_own_section(struct mt_elf *elf, const char *name);

/* ".symtab" or ".dynsym": found on first use, under the lock, then read-only. */
const struct mt_elf_symbol_table *mt_elf_symbol_table(struct mt_elf *elf, bool dynamic);

/* Symbol i from a copy of its entry; false if its name is outside the names. */
bool mt_elf_symbol_read(const struct mt_elf *elf, const struct mt_elf_symbol_table *table,
			const uint8_t *entry, size_t i, struct mt_elf_symbol *out);

/* size bytes at a file offset; NULL unless the file has all of them. */
static inline const uint8_t *mt_elf_file_bytes(const struct mt_elf *elf, uint64_t offset,
					       uint64_t size)
{
	if (offset > elf->size || size > elf->size - offset)
		return NULL;
	if (elf->front)
		elf->front->need(elf->front->context, elf->bytes + offset, size);
	return elf->copy && !mt_elf_copy_need(elf->copy, offset, size) ? NULL : elf->bytes + offset;
}

/* The bytes of section i in the file; NULL and size 0 for SHT_NOBITS or outside the file. */
struct mt_span mt_elf_raw_section(const struct mt_elf *elf, size_t i);

/* The first section of a type, or 0; and the bytes in the file of the first header of a type. */
size_t mt_elf_section_of_type(const struct mt_elf *elf, uint32_t type);
struct mt_span mt_elf_header_bytes(const struct mt_elf *elf, uint32_t type);

/* The bytes of section i, decompressed if needed. Call without the lock. */
struct mt_span mt_elf_section_bytes(struct mt_elf *elf, size_t i);

#endif
