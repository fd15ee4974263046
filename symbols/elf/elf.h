/*
 * The bytes of one ELF file, checked: headers, segments, sections, notes. ELF64 little-endian
 * (x86-64, AArch64) and ELF32 for naming. Every offset and size is held against the file before it
 * is used; a file that lies about one part loses that part, not the rest. No library behind it: the
 * recorder uses it too.
 *
 * Borrowed bytes hold as long as the mt_elf. Threads may read one mt_elf at the same time.
 */
#ifndef MT_SYMBOLS_ELF_ELF_H
#define MT_SYMBOLS_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_elf;

#define MT_BUILD_ID_MAX \
	32 /* bytes; GNU ld writes 20, lld 8 or 20, Go's and others' at most 32 are kept */

struct mt_span {
	const uint8_t *bytes; /* NULL where there is nothing */
	size_t size;	      /* 0 where there are no bytes */
	uint64_t vaddr; /* the link-time address of the first byte, 0 for what is not loaded */
};

struct mt_segment { /* PT_LOAD, as the header claims it; the file may be shorter */
	uint64_t vaddr;
	uint64_t memory_size;
	uint64_t offset;
	uint64_t file_size;
	uint32_t flags; /* PF_X, PF_W, PF_R */
};

/*
 * Maps the file and checks its headers. *out is the caller's. Only a regular file is opened: never
 * a fifo or a device that a recorded path happens to name here.
 */
struct mt_error *mt_elf_open_file(const char *path, struct mt_elf **out);

/* The same from an open descriptor, which stays the caller's; name is for messages. */
struct mt_error *mt_elf_open_fd(int fd, const char *name, struct mt_elf **out);

/* An ELF image in memory (a carried one, a vdso dump). Borrows the bytes until destroyed. */
struct mt_error *mt_elf_open_memory(const void *bytes, size_t size, const char *name,
				    struct mt_elf **out);

/*
 * The same for a skeleton (symbols/carried/skeleton.h): its program headers tell of the original
 * file, so bytes come from its sections alone.
 */
struct mt_error *mt_elf_open_skeleton(const void *bytes, size_t size, const char *name,
				      struct mt_elf **out);

/*
 * The same for an image of which a recording has several skeletons, each with some of it: what any
 * of them has holds. Those that are damaged, or of another image, are left out; an error where none
 * is good. Names and sections are asked for as of one file. Borrows the bytes, not the array.
 */
struct mt_error *mt_elf_open_pieces(const struct mt_span *pieces, size_t count, const char *name,
				    struct mt_elf **out);

void mt_elf_destroy(struct mt_elf *elf);

/*
 * How to undo SHF_COMPRESSED: type is ELFCOMPRESS_*; fills exactly out_size bytes, false where it
 * cannot.
 */
struct mt_elf_codec {
	bool (*inflate)(uint32_t type, const uint8_t *bytes, size_t size, uint8_t *out,
			size_t out_size);
};

/*
 * zlib and zstd (symbols/elf/elf_inflate.c). Naming it links both libraries, so the recorder does
 * not; without a codec a compressed section is as if absent.
 */
extern const struct mt_elf_codec mt_elf_codec_all;

/* Borrows codec for the life of elf. To be called before the first section is read. */
void mt_elf_set_codec(struct mt_elf *elf, const struct mt_elf_codec *codec);

/* e_type (ET_EXEC, ET_DYN, ET_REL, ET_CORE) and e_machine. */
uint16_t mt_elf_type(const struct mt_elf *elf);
uint16_t mt_elf_machine(const struct mt_elf *elf);
bool mt_elf_is_64(const struct mt_elf *elf);

/* The NT_GNU_BUILD_ID note, from PT_NOTE or else SHT_NOTE; size 0 where there is none. */
struct mt_span mt_elf_build_id(const struct mt_elf *elf);

/* All of its bytes, as they are. */
struct mt_span mt_elf_whole(const struct mt_elf *elf);

/* The PT_LOAD segments in file order. */
const struct mt_segment *mt_elf_segments(const struct mt_elf *elf, size_t *count);

/*
 * The section of that name, decompressed where SHF_COMPRESSED. Without bytes (absent, SHT_NOBITS,
 * outside of the file) its size is 0; mt_elf_section_info() tells what the header claims. Where no
 * such section is listed, as without section headers, ".eh_frame_hdr" is found through
 * PT_GNU_EH_FRAME, and ".eh_frame" through what that points to, up to its segment's end.
 */
struct mt_span mt_elf_section(struct mt_elf *elf, const char *name);

/*
 * How many pieces the image was opened from, 1 for a file; and the section of that name in one of
 * them, where mt_elf_section() gives the first that has bytes.
 */
size_t mt_elf_pieces(const struct mt_elf *elf);
struct mt_span mt_elf_section_in(struct mt_elf *elf, size_t piece, const char *name);

/* A section header, as it claims. */
struct mt_elf_section_info {
	const char *name; /* "" where it has none */
	uint64_t vaddr;
	uint64_t offset; /* in the file */
	uint64_t size;
	uint64_t entry_size;
	uint32_t type;	/* SHT_* */
	uint64_t flags; /* SHF_* */
};

/* The header of section i (an st_shndx, say); false where there is no such section. */
bool mt_elf_section_info(const struct mt_elf *elf, size_t i, struct mt_elf_section_info *out);

/* The index of the first section of that name, or 0 (the null section) without one. */
size_t mt_elf_find_section(const struct mt_elf *elf, const char *name);

/* The index of the next section behind `after` that says it has this address, or 0. */
size_t mt_elf_section_at(const struct mt_elf *elf, uint64_t vaddr, size_t after);

/* One ELF symbol; name borrowed from the string table, bounds checked, never NULL. */
struct mt_elf_symbol {
	uint64_t value;
	uint64_t size;
	const char *name;
	uint8_t type;	    /* STT_* */
	uint8_t binding;    /* STB_* */
	uint8_t visibility; /* STV_* */
	bool named;	    /* st_name is not 0; said without a look at the name */
	uint16_t section;   /* st_shndx */
	size_t index;	    /* in its table */
};

/*
 * How many symbols ".symtab" (dynamic false) or ".dynsym" (true) has; 0 without one. Without
 * section headers ".dynsym" is found through PT_DYNAMIC.
 */
size_t mt_elf_symbol_count(struct mt_elf *elf, bool dynamic);

/* Symbol i, in table order; false for one that points outside its string table. */
bool mt_elf_symbol(struct mt_elf *elf, bool dynamic, size_t i, struct mt_elf_symbol *out);

/*
 * Link-time address of a file offset, through the PT_LOAD that covers it, an executable one first;
 * false if none does.
 */
bool mt_elf_offset_to_vaddr(const struct mt_elf *elf, uint64_t offset, uint64_t *vaddr);

/* n loaded bytes at a link-time address (code, say); NULL where the file does not hold them all. */
const uint8_t *mt_elf_bytes_at(const struct mt_elf *elf, uint64_t vaddr, size_t n);

#endif
