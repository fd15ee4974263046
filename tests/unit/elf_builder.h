/*
 * Builds small ELF64 files in memory, field by field, so that a test can make malformed ones.
 * Layout: header, program headers at 64, contents, section headers last. For little-endian hosts
 * only.
 */
#ifndef MT_TESTS_UNIT_ELF_BUILDER_H
#define MT_TESTS_UNIT_ELF_BUILDER_H

#include <assert.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef BUILDER_BYTES
#define BUILDER_BYTES 65536
#endif
#define BUILDER_SEGMENTS 8
#define BUILDER_SECTIONS 32

struct elf_builder {
	uint8_t bytes[BUILDER_BYTES];
	size_t size;
	size_t segments, sections;
	Elf64_Shdr headers[BUILDER_SECTIONS];
	char names[2048];
	size_t names_size;
};

static inline Elf64_Ehdr *builder_header(struct elf_builder *b)
{
	return (Elf64_Ehdr *)b->bytes;
}

static inline Elf64_Phdr *builder_segment(struct elf_builder *b, size_t i)
{
	return (Elf64_Phdr *)(b->bytes + sizeof(Elf64_Ehdr)) + i;
}

static inline void builder_init(struct elf_builder *b, uint16_t type)
{
	memset(b, 0, sizeof(*b));
	*builder_header(b) = (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = type,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	b->size = sizeof(Elf64_Ehdr) + BUILDER_SEGMENTS * sizeof(Elf64_Phdr);
	b->sections = 1; /* the null section */
	b->names_size = 1;
}

static inline Elf64_Phdr *builder_add_segment(struct elf_builder *b, uint32_t type, uint32_t flags,
					      uint64_t offset, uint64_t vaddr, uint64_t size)
{
	Elf64_Phdr *p = builder_segment(b, b->segments++);

	assert(b->segments <= BUILDER_SEGMENTS);
	*p = (Elf64_Phdr){
		.p_type = type,
		.p_flags = flags,
		.p_offset = offset,
		.p_vaddr = vaddr,
		.p_filesz = size,
		.p_memsz = size,
		.p_align = 4,
	};
	return p;
}

/* Appends bytes, 8-byte aligned; returns their file offset. */
static inline uint64_t builder_append(struct elf_builder *b, const void *bytes, size_t size)
{
	uint64_t at = (b->size + 7) & ~(size_t)7;

	assert(at + size <= sizeof(b->bytes));
	memcpy(b->bytes + at, bytes, size);
	b->size = at + size;
	return at;
}

/*
 * Adds a section header. If bytes is NULL, none are appended: for SHT_NOBITS, or an offset that the
 * test sets.
 */
static inline Elf64_Shdr *builder_add_section(struct elf_builder *b, const char *name,
					      uint32_t type, uint64_t vaddr, const void *bytes,
					      size_t size)
{
	Elf64_Shdr *s = &b->headers[b->sections++];

	assert(b->sections < BUILDER_SECTIONS && b->names_size + strlen(name) < sizeof(b->names));
	*s = (Elf64_Shdr){
		.sh_name = (Elf64_Word)b->names_size,
		.sh_type = type,
		.sh_addr = vaddr,
		.sh_offset = bytes ? builder_append(b, bytes, size) : 0,
		.sh_size = size,
		.sh_addralign = 4,
	};
	memcpy(b->names + b->names_size, name, strlen(name) + 1);
	b->names_size += strlen(name) + 1;
	return s;
}

/* The index of the section that is added next. */
static inline uint16_t builder_next_section(const struct elf_builder *b)
{
	return (uint16_t)b->sections;
}

/* Writes section names, section headers and counts; call it last. */
static inline void builder_finish(struct elf_builder *b)
{
	Elf64_Ehdr *h = builder_header(b);
	Elf64_Shdr *names = builder_add_section(b, ".shstrtab", SHT_STRTAB, 0, NULL, 0);

	names->sh_offset = builder_append(b, b->names, b->names_size);
	names->sh_size = b->names_size;
	h->e_phoff = sizeof(*h);
	h->e_phnum = (Elf64_Half)b->segments;
	h->e_shnum = (Elf64_Half)b->sections;
	h->e_shstrndx = (Elf64_Half)(b->sections - 1);
	h->e_shoff = builder_append(b, b->headers, b->sections * sizeof(*b->headers));
}

/* Adds a symbol table and its string table as sections; symbols[0] must be the null symbol. */
static inline void builder_add_symbols(struct elf_builder *b, bool dynamic,
				       const Elf64_Sym *symbols, size_t count, const char *names,
				       size_t names_size)
{
	Elf64_Shdr *table = builder_add_section(b, dynamic ? ".dynsym" : ".symtab",
						dynamic ? SHT_DYNSYM : SHT_SYMTAB, 0, symbols,
						count * sizeof(*symbols));

	table->sh_entsize = sizeof(*symbols);
	table->sh_link = builder_next_section(b);
	builder_add_section(b, dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, 0, names, names_size);
}

/* Adds a PT_NOTE with the build id {1, 2, ... n}. */
static inline void builder_add_build_id(struct elf_builder *b, size_t n)
{
	uint8_t note[16 + 64] = {4, 0, 0, 0,   (uint8_t)n, 0,	0, 0, NT_GNU_BUILD_ID,
				 0, 0, 0, 'G', 'N',	   'U', 0};
	uint64_t at;

	for (size_t i = 0; i < n; i++)
		note[16 + i] = (uint8_t)(i + 1);
	at = builder_append(b, note, 16 + ((n + 3) & ~(size_t)3));
	builder_add_segment(b, PT_NOTE, PF_R, at, 0, 16 + ((n + 3) & ~(size_t)3));
}

#endif
