/*
 * The bounds-checked bytes of one ELF file: headers, segments, sections, symbols, notes. ELF64
 * little-endian (x86-64, AArch64), and ELF32 for naming. Every offset and size is checked against
 * the file before use; an inconsistent part does not affect the others. Needs no library, because
 * the recorder uses it.
 *
 * Borrowed bytes are valid as long as the mt_elf. Reading an mt_elf is thread-safe.
 */
#ifndef MT_SYMBOLS_ELF_ELF_H
#define MT_SYMBOLS_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/cleanup.h"

struct mt_error;
struct mt_elf;
struct mt_elf_input;

/*
 * Bytes of a build id. GNU ld writes 20, lld 8 or 20. Of a longer id the first 32 bytes are kept,
 * of a Go build id the last 32.
 */
#define MT_BUILD_ID_MAX 32

struct mt_span {
	const uint8_t *bytes; /* NULL: empty */
	size_t size;	      /* 0 if bytes is NULL */
	uint64_t vaddr;	      /* link-time address of the first byte; 0 if not loaded */
};

struct mt_segment { /* as in the program header; the file may be shorter */
	uint64_t vaddr;
	uint64_t memory_size;
	uint64_t offset;
	uint64_t file_size;
	uint64_t align;
	uint32_t type;	/* PT_* */
	uint32_t flags; /* PF_X, PF_W, PF_R */
};

/*
 * Maps the file and checks its headers. Only regular files are opened, and only through trusted
 * links (formats/base/foreign_file.h). A file that is truncated while it is mapped raises SIGBUS,
 * so the recorder reads files instead. The caller destroys *out.
 */
struct mt_error *mt_elf_open_file(const char *path, struct mt_elf **out);

/* The same for a path that the user named: every link is followed. */
struct mt_error *mt_elf_open_named(const char *path, struct mt_elf **out);

/* The same from an open descriptor, which the caller still owns. name is for messages. */
struct mt_error *mt_elf_open_fd(int fd, const char *name, struct mt_elf **out);

/* The same three, but bytes are not mapped: they are read when they are first requested. */
struct mt_error *mt_elf_read_file(const char *path, struct mt_elf **out);
struct mt_error *mt_elf_read_named(const char *path, struct mt_elf **out);
struct mt_error *mt_elf_read_fd(int fd, const char *name, struct mt_elf **out);

/* An ELF file in memory (carried, or a vdso). Borrows the bytes until destroyed. */
struct mt_error *mt_elf_open_memory(const void *bytes, size_t size, const char *name,
				    struct mt_elf **out);

/*
 * The same for bytes of which only a few are in memory: calls input->need before it reads headers,
 * section names and the notes that may have the build id. These are read later without a call.
 */
struct mt_error *mt_elf_open_front(const void *bytes, size_t size, const char *name,
				   const struct mt_elf_input *input, struct mt_elf **out);

/*
 * A skeleton in memory (symbols/carried/skeleton.h). Its program headers describe the original
 * file, so bytes come only from its sections.
 */
struct mt_error *mt_elf_open_skeleton(const void *bytes, size_t size, const char *name,
				      struct mt_elf **out);

/*
 * Opens an image of which a recording carries several skeletons, each with a part of the file.
 * Skips damaged skeletons and those of another image; returns an error if none is left. Borrows the
 * bytes, not the array.
 */
struct mt_error *mt_elf_open_pieces(const struct mt_span *pieces, size_t count, const char *name,
				    struct mt_elf **out);

void mt_elf_destroy(struct mt_elf *elf);
MT_DEFINE_CLEANUP(mt_elf, struct mt_elf)

/*
 * Decompresses SHF_COMPRESSED sections: type is ELFCOMPRESS_*; fills exactly out_size bytes, or
 * returns false.
 */
struct mt_elf_codec {
	bool (*inflate)(uint32_t type, const uint8_t *bytes, size_t size, uint8_t *out,
			size_t out_size);
};

/*
 * zlib and zstd (symbols/elf/elf_inflate.c). Referring to this codec links both libraries, so the
 * recorder does not refer to it. Without a codec, compressed sections count as absent.
 */
extern const struct mt_elf_codec mt_elf_codec_all;

/* Borrows codec until elf is destroyed. Call before reading the first section. */
void mt_elf_set_codec(struct mt_elf *elf, const struct mt_elf_codec *codec);

/* e_machine. */
uint16_t mt_elf_machine(const struct mt_elf *elf);
bool mt_elf_is_64(const struct mt_elf *elf);

/*
 * The build id from the NT_GNU_BUILD_ID note in PT_NOTE or else SHT_NOTE. If there is no such note,
 * the last MT_BUILD_ID_MAX bytes of Go's build id. Size 0 if there is neither.
 */
struct mt_span mt_elf_build_id(const struct mt_elf *elf);
bool mt_elf_has_build_id(const struct mt_elf *elf, const uint8_t *id, size_t size);

/* Writes 2 * size digits and a NUL. */
void mt_build_id_hex(const uint8_t *id, size_t size, char *out);

/*
 * Path of the debug file of a build id below a directory (NULL: /usr/lib/debug). The caller frees
 * it. NULL if id is not a build id, or out of memory.
 */
char *mt_debug_file_path(const char *directory, const uint8_t *id, size_t size);

/* True if a build id is Go's: text, which debuginfod and .build-id folders do not support. */
bool mt_is_go_build_id(const uint8_t *id, size_t size);

/*
 * True if Go linked the file, stripped or not. Go programs have a garbage-collected heap, not
 * malloc.
 */
bool mt_elf_is_go(const struct mt_elf *elf);

/* The whole file, unchanged. */
struct mt_span mt_elf_whole(const struct mt_elf *elf);

/* The PT_LOAD segments in file order. */
const struct mt_segment *mt_elf_segments(const struct mt_elf *elf, size_t *count);

/*
 * The section of that name, decompressed if SHF_COMPRESSED. Size 0 if there are no bytes (absent,
 * SHT_NOBITS, or outside the file); mt_elf_section_info() returns the header's fields. Without a
 * section header ".eh_frame_hdr" is found through PT_GNU_EH_FRAME, and ".eh_frame" through a
 * pointer in it, up to the end of its segment.
 */
struct mt_span mt_elf_section(struct mt_elf *elf, const char *name);

/*
 * The number of pieces that the image was opened from, 1 for a file; piece i, where piece 0 is elf
 * itself; the section of that name in one piece. mt_elf_section() uses the first piece that has
 * bytes of the section.
 */
size_t mt_elf_pieces(const struct mt_elf *elf);
struct mt_elf *mt_elf_piece(struct mt_elf *elf, size_t i);
struct mt_span mt_elf_section_in(struct mt_elf *elf, size_t piece, const char *name);

/* A section header, unchecked. */
struct mt_elf_section_info {
	const char *name; /* "" without a name */
	uint64_t vaddr;
	uint64_t offset; /* in the file */
	uint64_t size;
	uint64_t entry_size;
	uint32_t type;	/* SHT_* */
	uint64_t flags; /* SHF_* */
};

/* The header of section i (for example st_shndx); false if there is none. */
bool mt_elf_section_info(const struct mt_elf *elf, size_t i, struct mt_elf_section_info *out);

/* Index of the first section of that name, or 0 (the null section). */
size_t mt_elf_find_section(const struct mt_elf *elf, const char *name);

/* Index of the next section after `after` whose header has this address, or 0. */
size_t mt_elf_section_at(const struct mt_elf *elf, uint64_t vaddr, size_t after);

/* A symbol. name borrows from the string table, is bounds-checked and never NULL. */
struct mt_elf_symbol {
	uint64_t value;
	uint64_t size;
	const char *name;
	uint8_t type;	    /* STT_* */
	uint8_t binding;    /* STB_* */
	uint8_t visibility; /* STV_* */
	bool named;	    /* st_name is not 0; set without reading the name */
	uint16_t section;   /* st_shndx */
	size_t index;	    /* in its table */
};

/*
 * Number of symbols in ".symtab" (dynamic false) or ".dynsym" (true); 0 if there is no table.
 * Without section headers, ".dynsym" is found through PT_DYNAMIC.
 */
size_t mt_elf_symbol_count(struct mt_elf *elf, bool dynamic);

/* Symbol i in table order; false if its name is outside the string table. */
bool mt_elf_symbol(struct mt_elf *elf, bool dynamic, size_t i, struct mt_elf_symbol *out);

/*
 * Link-time address of a file offset, through the PT_LOAD that covers it, preferably an executable
 * one; false if there is none.
 */
bool mt_elf_offset_to_vaddr(const struct mt_elf *elf, uint64_t offset, uint64_t *vaddr);

/* n loaded bytes at a link-time address (such as code); NULL unless the file has all of them. */
const uint8_t *mt_elf_bytes_at(const struct mt_elf *elf, uint64_t vaddr, size_t n);

#endif
