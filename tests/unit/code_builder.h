/*
 * Small programs of a few functions, which a test maps at any address, and stacks of their frames.
 * All files have the same layout: code at CODE_VADDR + its offset in the file, followed by data
 * that is linked elsewhere. CFI covers the functions only.
 */
#ifndef MT_TESTS_UNIT_CODE_BUILDER_H
#define MT_TESTS_UNIT_CODE_BUILDER_H

#include <assert.h>
#include <elf.h>
#include <malloc.h>
#include <sys/mman.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "tests/unit/cfi_builder.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"
#include "unwind/join/call_site.h"

#define RX (PROT_READ | PROT_EXEC)
#define RW (PROT_READ | PROT_WRITE)

/* Offsets in the file. */
#define CODE_START 0x1000u
#define CODE_END 0x6000u
#define CODE_NOTHING 0x1800u /* code without CFI */
#define DATA_END 0x6200u     /* end of the segment; the mapping of the file is longer */

#define CODE_VADDR ((uint64_t)0x400000)
#define DATA_VADDR ((uint64_t)0x600000)
#define EH_FRAME ((uint64_t)0x700000)
#define EH_FRAME_HDR ((uint64_t)0x710000)

/* Two base addresses of mappings, where the file's offset 0 is mapped. */
#define HERE ((uint64_t)0x555500000000)
#define THERE ((uint64_t)0x7f1234000000)

enum function {
	MAIN, /* MAIN to LEAF share a page */
	LOOP,
	READ,
	WRITE,
	HOOK,
	LEAF,
	FAR,  /* on a separate page */
	LONG, /* spans three pages */
	FUNCTIONS
};

struct code_piece {
	uint32_t start, size; /* in the file */
};

static const struct code_piece code_pieces[FUNCTIONS] = {
	[MAIN] = {0x1000, 0x100},  [LOOP] = {0x1100, 0x100}, [READ] = {0x1200, 0x100},
	[WRITE] = {0x1300, 0x100}, [HOOK] = {0x1400, 0x100}, [LEAF] = {0x1500, 0x100},
	[FAR] = {0x2000, 0x100},   [LONG] = {0x3800, 0x2100}};

struct code_file {
	const char *path;
	struct elf_builder elf;
};

#define CODE_FILES 4

static struct code_world {
	struct mt_image_set *images;
	struct code_file files[CODE_FILES];
	size_t count;
} w;

static inline struct mt_error *code_open(void *context, const struct mt_image_identity *identity,
					 struct mt_elf **out, char **found_at)
{
	(void)context;
	(void)found_at;
	*out = NULL;
	for (size_t i = 0; i < w.count; i++) {
		struct code_file *file = &w.files[i];

		if (!strcmp(file->path, identity->path))
			return mt_elf_open_memory(file->elf.bytes, file->elf.size, file->path, out);
	}
	return NULL;
}

/* Starts without any file; earlier files are gone. */
static inline void code_setup(void)
{
	static const struct mt_image_source file = {.name = "file", .open = code_open};

	w.images = mt_image_set_create();
	w.count = 0;
	MT_CHECK(w.images && mt_image_set_add_source(w.images, &file, NULL));
}

static inline void code_teardown(void)
{
	mt_image_set_destroy(w.images);
	w.images = NULL;
}

static inline void code_put_cfi(struct elf_builder *b, const struct code_piece *pieces,
				size_t count)
{
	struct cfi_builder frame = {.vaddr = EH_FRAME}, hdr;
	size_t cie = cfi_cie(&frame, "", NO_BYTES, NO_BYTES);
	uint64_t pairs[FUNCTIONS][2];

	for (size_t i = 0; i < count; i++) {
		pairs[i][0] = CODE_VADDR + pieces[i].start;
		pairs[i][1] =
			EH_FRAME + cfi_fde(&frame, cie, pairs[i][0], pieces[i].size, NO_BYTES);
	}
	cfi_table(&hdr, EH_FRAME_HDR, EH_FRAME, pairs, count);
	builder_add_section(b, ".eh_frame", SHT_PROGBITS, EH_FRAME, frame.bytes, frame.size);
	builder_add_section(b, ".eh_frame_hdr", SHT_PROGBITS, EH_FRAME_HDR, hdr.bytes, hdr.size);
}

static inline void code_put_segments(struct elf_builder *b, const uint8_t *code)
{
	static const uint8_t data[DATA_END - CODE_END];
	Elf64_Shdr *text;

	b->size = CODE_START;
	text = builder_add_section(b, ".text", SHT_PROGBITS, CODE_VADDR + CODE_START, code,
				   CODE_END - CODE_START);
	text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	assert(text->sh_offset == CODE_START && b->size == CODE_END);
	builder_append(b, data, sizeof(data));
	builder_add_segment(b, PT_LOAD, PF_R | PF_X, CODE_START, CODE_VADDR + CODE_START,
			    CODE_END - CODE_START);
	builder_add_segment(b, PT_LOAD, PF_R | PF_W, CODE_END, DATA_VADDR, DATA_END - CODE_END);
}

/* Adds a file with those functions. */
static inline void code_add_file(const char *path)
{
	static uint8_t code[CODE_END - CODE_START];
	struct code_file *file = &w.files[w.count++];

	assert(w.count <= CODE_FILES);
	memset(code, 0x90, sizeof(code));
	file->path = path;
	builder_init(&file->elf, ET_DYN);
	code_put_segments(&file->elf, code);
	code_put_cfi(&file->elf, code_pieces, FUNCTIONS);
	builder_finish(&file->elf);
}

static inline struct mt_image *code_image(const char *path)
{
	const struct mt_image_identity identity = {.path = path};

	return mt_image_set_intern(w.images, &identity);
}

/* Maps [from, to) of the file at base + from. */
static inline void code_map_part(struct mt_image_map *map, uint64_t base, const char *path,
				 uint32_t prot, uint64_t from, uint64_t to)
{
	const struct mt_mapping mapping = {.start = base + from,
					   .end = base + to,
					   .offset = from,
					   .prot = prot,
					   .image = code_image(path)};

	MT_CHECK(mt_image_map_insert(map, &mapping));
}

static inline void code_map_file(struct mt_image_map *map, uint64_t base, const char *path)
{
	code_map_part(map, base, path, RX, CODE_START, CODE_END);
}

/* Creates a process that has the file's code mapped. */
static inline struct mt_image_map *code_process(uint64_t base, const char *path)
{
	struct mt_image_map *map = mt_image_map_create();

	code_map_file(map, base, path);
	return map;
}

/* An address in a function of a file mapped at `base`. */
static inline uint64_t at(uint64_t base, enum function f, uint64_t offset)
{
	return base + code_pieces[f].start + offset;
}

#endif
