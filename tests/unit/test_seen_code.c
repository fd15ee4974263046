/*
 * Skeletons that carry only seen code: every seen address has the name and the unwind row that the
 * whole file gives it. Tested with the file's tables and with made tables of unusual shapes.
 * Damaged skeletons do no harm.
 */
#include "symbols/carried/seen_code.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/carry/embed_image.h"
#include "symbols/carried/skeleton.h"
#include "symbols/elf/cfi_entry.h"
#include "symbols/elf/elf.h"
#include "symbols/names/symtab.h"
#include "tests/unit/cfi_builder.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/same_code.h"
#include "tests/unit/unit.h"
#include "unwind/cfi/cfi.h"

MT_DEFINE_CLEANUP(mt_symtab, struct mt_symtab)

#define SEEN_MAX 4096u

struct seen {
	uint64_t units[SEEN_MAX];
	struct mt_seen_code code;
};

static uint64_t state = 1;

static uint32_t random_below(uint32_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((state >> 33) % n);
}

/* Notes about one in `every` of the units of [from, to) as seen. */
static void see(struct seen *seen, uint64_t from, uint64_t to, uint32_t every)
{
	size_t count = seen->code.count;

	for (uint64_t at = from & ~(uint64_t)(MT_SEEN_UNIT - 1); at < to; at += MT_SEEN_UNIT) {
		if (count < SEEN_MAX && !random_below(every))
			seen->units[count++] = at;
	}
	seen->code = (struct mt_seen_code){seen->units, count};
}

static void see_code(struct seen *seen, const struct mt_elf *elf, uint32_t every)
{
	size_t count;
	const struct mt_segment *segments = mt_elf_segments(elf, &count);

	seen->code.count = 0;
	for (size_t i = 0; i < count; i++) {
		if (segments[i].flags & PF_X)
			see(seen, segments[i].vaddr, segments[i].vaddr + segments[i].file_size,
			    every);
	}
}

/* The path of the C library in this process. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	*(char **)context = strdup(info->dlpi_name);
	return 1;
}

struct carried {
	uint8_t *bytes;
	size_t size;
	struct mt_elf *elf;
	struct mt_symtab *symtab;
	struct mt_cfi *cfi;
};

static void carried_deinit(struct carried *carried)
{
	mt_cfi_destroy(carried->cfi);
	mt_symtab_destroy(carried->symtab);
	mt_elf_destroy(carried->elf);
	free(carried->bytes);
	*carried = (struct carried){0};
}

static bool open_carried(const struct mt_span *pieces, size_t count, struct carried *out)
{
	struct mt_error *err = mt_elf_open_pieces(pieces, count, "skeleton", &out->elf);

	mt_error_destroy(err);
	if (err)
		return false;
	out->symtab = mt_symtab_create(out->elf, out->elf);
	out->cfi = mt_cfi_of_elf(out->elf);
	return out->symtab && out->cfi;
}

static bool carry(struct mt_elf *elf, const struct mt_seen_code *seen, struct carried *out)
{
	struct mt_skeleton_wish wish = {.names = true, .unwind = true, .seen = seen};
	struct mt_error *err = mt_skeleton_make(elf, NULL, &wish, &out->bytes, &out->size);

	mt_error_destroy(err);
	return !err && open_carried(&(struct mt_span){out->bytes, out->size, 0}, 1, out);
}

/* Entries are contiguous up to the section's end. */
static void check_frames(struct mt_elf *elf)
{
	struct mt_cfi_section section = {.span = mt_elf_section(elf, ".eh_frame")};
	struct mt_cfi_entry entry;
	size_t at = 0;

	while (at < section.span.size && mt_cfi_entry_read(&section, at, &entry))
		at = entry.next;
	MT_CHECK_EQ(at, section.span.size);
}

static void check_places(struct mt_symtab *symtab, struct mt_cfi *cfi,
			 const struct carried *carried, const struct seen *seen)
{
	size_t names = 0, rows = 0;

	for (size_t i = 0; i < seen->code.count; i++) {
		for (uint64_t k = 0; k < MT_SEEN_UNIT; k++) {
			names += !same_name(symtab, carried->symtab, seen->units[i] + k);
			rows += !same_row(cfi, carried->cfi, seen->units[i] + k);
		}
	}
	MT_CHECK_EQ(names, 0);
	MT_CHECK_EQ(rows, 0);
}

/* Unseen addresses have no row, or the right one. */
static void check_others(struct mt_elf *elf, struct mt_cfi *cfi, const struct carried *carried)
{
	struct mt_span text = mt_elf_section(elf, ".text");
	size_t wrong = 0, none = 0;

	for (uint64_t at = 0; at < text.size; at += 13) {
		struct mt_cfi_row row;

		if (mt_cfi_find(carried->cfi, text.vaddr + at, &row) == MT_CFI_NONE)
			none++;
		else
			wrong += !same_row(cfi, carried->cfi, text.vaddr + at);
	}
	MT_CHECK(none);
	MT_CHECK_EQ(wrong, 0);
}

static void check_file(const char *path)
{
	static const uint32_t every[] = {300, 90, 40, 300, 300};
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *symtab = NULL;
	MT_CLEANUP(mt_cfi_destroy_p) struct mt_cfi *cfi = NULL;
	MT_CLEANUP(carried_deinit) struct carried whole = {0};
	static struct seen seen;

	MT_REQUIRE(!mt_elf_open_file(path, &elf) && carry(elf, NULL, &whole));
	symtab = mt_symtab_create(elf, elf);
	cfi = mt_cfi_of_elf(elf);
	MT_REQUIRE(symtab && cfi);
	for (size_t i = 0; i < sizeof(every) / sizeof(*every); i++) {
		MT_CLEANUP(carried_deinit) struct carried carried = {0};

		see_code(&seen, elf, every[i]);
		MT_REQUIRE(seen.code.count && carry(elf, &seen.code, &carried));
		check_frames(carried.elf);
		check_places(symtab, cfi, &carried, &seen);
		check_others(elf, cfi, &carried);
		MT_CHECK(mt_elf_symbol_count(carried.elf, true) <
			 mt_elf_symbol_count(whole.elf, true) + 1);
		MT_CHECK(carried.size < whole.size);
	}
}

MT_TEST(seen_code_of_this_program_is_named_and_unwound_as_from_its_file)
{
	check_file("/proc/self/exe");
}

MT_TEST(seen_code_of_the_c_library_is_named_and_unwound_as_from_its_file)
{
	MT_CLEANUP_FREE char *path = NULL;

	dl_iterate_phdr(find_libc, &path);
	if (!path)
		MT_SKIP("this program has no C library of its own");
	check_file(path);
}

/* Each unit is in one of the first two parts, at random; the last part has none. */
static bool carry_parts(struct mt_elf *elf, const struct seen *seen, struct carried parts[3])
{
	static struct seen some[3];

	for (int i = 0; i < 3; i++)
		some[i].code = (struct mt_seen_code){some[i].units, 0};
	for (size_t i = 0; i < seen->code.count; i++) {
		struct seen *to = &some[random_below(2)];

		to->units[to->code.count++] = seen->units[i];
	}
	return carry(elf, &some[0].code, &parts[0]) && carry(elf, &some[1].code, &parts[1]) &&
	       carry(elf, &some[2].code, &parts[2]);
}

static void check_merged(const char *path)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *symtab = NULL;
	MT_CLEANUP(mt_cfi_destroy_p) struct mt_cfi *cfi = NULL;
	static struct seen seen;

	MT_REQUIRE(!mt_elf_open_file(path, &elf));
	symtab = mt_symtab_create(elf, elf);
	cfi = mt_cfi_of_elf(elf);
	MT_REQUIRE(symtab && cfi);
	for (int round = 0; round < 10; round++) {
		struct carried parts[3] = {0}, merged = {0};
		struct mt_span spans[3];

		see_code(&seen, elf, 200);
		MT_REQUIRE(carry_parts(elf, &seen, parts));
		for (int i = 0; i < 3; i++) {
			const struct carried *part = &parts[(round + i) % 3];

			spans[i] = (struct mt_span){.bytes = part->bytes, .size = part->size};
		}
		MT_REQUIRE(open_carried(spans, 3, &merged));
		check_places(symtab, cfi, &merged, &seen);
		carried_deinit(&merged);
		for (int i = 0; i < 3; i++)
			carried_deinit(&parts[i]);
	}
}

MT_TEST(merged_parts_of_this_program_name_and_unwind_as_its_file)
{
	check_merged("/proc/self/exe");
}

MT_TEST(merged_parts_of_the_c_library_name_and_unwind_as_its_file)
{
	MT_CLEANUP_FREE char *path = NULL;

	dl_iterate_phdr(find_libc, &path);
	if (!path)
		MT_SKIP("this program has no C library of its own");
	check_merged(path);
}

MT_TEST(where_nothing_was_seen_nothing_of_code_is_carried)
{
	static const struct mt_seen_code nothing = {0};
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP(carried_deinit) struct carried carried = {0};
	MT_CLEANUP(mt_cfi_destroy_p) struct mt_cfi *cfi = NULL;

	MT_REQUIRE(!mt_elf_open_file("/proc/self/exe", &elf) && carry(elf, &nothing, &carried));
	cfi = mt_cfi_of_elf(elf);
	MT_REQUIRE(cfi);
	MT_CHECK(!mt_elf_symbol_count(carried.elf, false));
	MT_CHECK_EQ(mt_elf_section(carried.elf, ".eh_frame").size, 0);
	MT_CHECK_EQ(mt_elf_build_id(carried.elf).size, mt_elf_build_id(elf).size);
	check_frames(carried.elf);
	check_others(elf, cfi, &carried);
}

static bool put_bytes(void *context, const uint8_t *bytes, size_t size)
{
	uint8_t **at = context;

	memcpy(*at, bytes, size);
	*at += size;
	return true;
}

/* The recorder reads only the bytes that were requested. */
MT_TEST(bytes_are_asked_for_first)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP(carried_deinit) struct carried carried = {0};
	static struct seen seen;
	struct mt_skeleton_wish wish = {.names = true, .unwind = true, .seen = &seen.code};
	struct mt_embed_image *image = NULL;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	uint8_t *at;

	MT_REQUIRE(fd >= 0 && !mt_elf_open_file("/proc/self/exe", &elf));
	see_code(&seen, elf, 300);
	MT_REQUIRE(carry(elf, &seen.code, &carried));
	MT_REQUIRE(!mt_embed_image_create(NULL, fd, &wish, NULL, &image));
	bytes = at = malloc(mt_skeleton_size(mt_embed_image_skeleton(image)));
	MT_REQUIRE(bytes);
	MT_CHECK(mt_skeleton_write(mt_embed_image_skeleton(image),
				   &(struct mt_skeleton_output){&at, put_bytes}));
	MT_CHECK_EQ(at - bytes, carried.size);
	MT_CHECK((size_t)(at - bytes) == carried.size &&
		 !memcmp(bytes, carried.bytes, carried.size));
	mt_embed_image_destroy(image);
	close(fd);
}

/* ---- Symbols of every kind ---- */

#define TEXT 0x10000u
#define TEXT_SIZE 0x3000u
#define SYMBOLS 60u

static struct elf_builder builder;

static Elf64_Sym random_symbol(uint32_t name)
{
	static const uint8_t types[] = {STT_FUNC, STT_FUNC, STT_FUNC, STT_NOTYPE, STT_OBJECT};
	static const uint16_t sizes[] = {0, 0, 4, 10, 16, 30, 100, 100, 700, 5000};

	return (Elf64_Sym){
		.st_name = name,
		.st_info = ELF64_ST_INFO(random_below(3), types[random_below(5)]),
		.st_shndx = 1,
		.st_value = TEXT + random_below(random_below(2) ? TEXT_SIZE : 0x200) / 4 * 4,
		.st_size = sizes[random_below(10)],
	};
}

/* Most symbols are near the start, so that symbols share starts, contain others and overlap. */
static void add_random_symbols(bool dynamic)
{
	static Elf64_Sym symbols[SYMBOLS + 1];
	static char names[SYMBOLS * 16];
	uint32_t count = 1 + random_below(SYMBOLS), used = 1;

	for (uint32_t i = 1; i <= count; i++) {
		symbols[i] = random_symbol(used);
		used += (uint32_t)sprintf(names + used, "%s%u", random_below(4) ? "f" : "__g",
					  random_below(1000)) +
			1;
	}
	builder_add_symbols(&builder, dynamic, symbols, count + 1, names, used);
}

static struct mt_elf *make_symbols(void)
{
	struct mt_elf *elf = NULL;
	Elf64_Shdr *text;

	builder_init(&builder, ET_DYN);
	text = builder_add_section(&builder, ".text", SHT_NOBITS, TEXT, NULL, 0);
	text->sh_size = TEXT_SIZE;
	text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	builder_add_segment(&builder, PT_LOAD, PF_R | PF_X, 0, TEXT, TEXT_SIZE);
	add_random_symbols(false);
	if (random_below(2))
		add_random_symbols(true);
	builder_finish(&builder);
	MT_CHECK(!mt_elf_open_memory(builder.bytes, builder.size, "made", &elf));
	return elf;
}

static size_t wrong_names(struct mt_elf *elf, const struct seen *seen,
			  const struct carried *carried)
{
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *symtab = mt_symtab_create(elf, elf);
	size_t wrong = 0;

	for (size_t i = 0; symtab && i < seen->code.count; i++) {
		for (uint64_t k = 0; k < MT_SEEN_UNIT; k++)
			wrong += !same_name(symtab, carried->symtab, seen->units[i] + k);
	}
	return wrong + !symtab;
}

MT_TEST(odd_symbols_name_seen_code_as_all_of_them_do)
{
	static struct seen seen;
	size_t left_out = 0;

	for (unsigned int round = 0; round < 3000; round++) {
		MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = make_symbols();
		MT_CLEANUP(carried_deinit) struct carried carried = {0};

		seen.code.count = 0;
		see(&seen, TEXT - 0x40, TEXT + 0x240, 1 + random_below(30));
		see(&seen, TEXT + 0x240, TEXT + TEXT_SIZE + 0x2000, 1 + random_below(1000));
		MT_REQUIRE(elf && carry(elf, &seen.code, &carried));
		if (!MT_CHECK_EQ(wrong_names(elf, &seen, &carried), 0))
			return;
		left_out +=
			mt_elf_symbol_count(elf, false) - mt_elf_symbol_count(carried.elf, false);
	}
	MT_CHECK(left_out > 3000);
}

/* ---- Entries of every shape ---- */

#define FRAME 0x8000u
#define FUNCTIONS 30u
#define FUNCTION 0x40u

static struct cfi_builder entries;

/* Terminators in the middle, as linkers leave from some inputs, make gaps of all small sizes. */
static struct mt_elf *make_entries(void)
{
	struct mt_elf *elf = NULL;
	struct mt_span span;
	size_t cie = 0;

	entries = (struct cfi_builder){.vaddr = FRAME};
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		if (!i || !random_below(8))
			cie = cfi_cie(&entries, "", NO_BYTES, NO_BYTES);
		for (uint32_t k = random_below(6); k > 2; k--)
			cfi_put32(&entries, 0);
		cfi_fde(&entries, cie, TEXT + i * FUNCTION, FUNCTION - random_below(20),
			BYTES(0x41, 0x0e, 0x10));
	}
	for (uint32_t k = random_below(6); k; k--)
		cfi_put32(&entries, 0);
	span = cfi_span(&entries);
	builder_init(&builder, ET_DYN);
	builder_add_section(&builder, ".eh_frame", SHT_PROGBITS, FRAME, span.bytes, span.size)
		->sh_flags = SHF_ALLOC;
	builder_add_segment(&builder, PT_LOAD, PF_R | PF_X, 0, TEXT, FUNCTIONS * FUNCTION);
	builder_finish(&builder);
	MT_CHECK(!mt_elf_open_memory(builder.bytes, builder.size, "made", &elf));
	return elf;
}

MT_TEST(odd_entries_unwind_seen_code_as_all_of_them_do)
{
	static struct seen seen;
	size_t none = 0;

	for (unsigned int round = 0; round < 2000; round++) {
		MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = make_entries();
		MT_CLEANUP(carried_deinit) struct carried carried = {0};
		MT_CLEANUP(mt_cfi_destroy_p) struct mt_cfi *cfi = mt_cfi_of_elf(elf);
		size_t wrong = 0;

		seen.code.count = 0;
		see(&seen, TEXT, TEXT + FUNCTIONS * FUNCTION, 1 + random_below(50));
		MT_REQUIRE(elf && cfi && carry(elf, &seen.code, &carried));
		check_frames(carried.elf);
		for (uint64_t at = TEXT; at < TEXT + FUNCTIONS * FUNCTION; at++) {
			struct mt_cfi_row row;
			bool there = mt_cfi_find(carried.cfi, at, &row) == MT_CFI_FOUND;

			none += !there;
			if (there || mt_seen_code_within(&seen.code, at, at + 1))
				wrong += !same_row(cfi, carried.cfi, at);
		}
		if (!MT_CHECK_EQ(wrong, 0))
			return;
	}
	MT_CHECK(none > 100000);
}

/* Functions of half a page, each on its own page. */
static struct mt_elf *make_pages(void)
{
	struct mt_elf *elf = NULL;
	struct mt_span span;
	size_t cie;

	entries = (struct cfi_builder){.vaddr = FRAME};
	cie = cfi_cie(&entries, "", NO_BYTES, NO_BYTES);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		cfi_fde(&entries, cie, TEXT + i * 0x1000, 0x800, BYTES(0x41, 0x0e, 0x10));
	span = cfi_span(&entries);
	builder_init(&builder, ET_DYN);
	builder_add_section(&builder, ".eh_frame", SHT_PROGBITS, FRAME, span.bytes, span.size)
		->sh_flags = SHF_ALLOC;
	builder_add_segment(&builder, PT_LOAD, PF_R | PF_X, 0, TEXT, FUNCTIONS * 0x1000);
	builder_finish(&builder);
	MT_CHECK(!mt_elf_open_memory(builder.bytes, builder.size, "made", &elf));
	return elf;
}

/* That seen code has no unwind tables matters for the calls that lead there, too. */
MT_TEST(where_nothing_reports_of_seen_code_all_before_it_is_kept)
{
	const uint64_t units[] = {TEXT + 0x2000, TEXT + 0x14c00, TEXT + 0x17000};
	const struct mt_seen_code seen = {units, 3};
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = make_pages();
	MT_CLEANUP(carried_deinit) struct carried carried = {0};

	MT_REQUIRE(elf && carry(elf, &seen, &carried));
	check_frames(carried.elf);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct mt_cfi_row row;
		bool there = mt_cfi_find(carried.cfi, TEXT + i * 0x1000, &row) == MT_CFI_FOUND;

		MT_CHECK_EQ(there, i == 2 || (i >= 5 && i <= 20) || i == 23);
	}
}

/* ---- Damage ---- */

/* The first section has no meaning, whatever its header claims: here, that it is kept. */
MT_TEST(a_first_section_with_bytes_is_left_out)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = make_pages(), *hostile = NULL;
	MT_CLEANUP(carried_deinit) struct carried carried = {0};
	const uint64_t units[] = {TEXT};
	const struct mt_seen_code seen = {units, 1};
	Elf64_Shdr *sections =
		(Elf64_Shdr *)(builder.bytes + ((Elf64_Ehdr *)builder.bytes)->e_shoff);
	struct mt_elf_section_info info;

	MT_REQUIRE(elf);
	sections[0] = sections[mt_elf_find_section(elf, ".eh_frame")];
	sections[mt_elf_find_section(elf, ".eh_frame")].sh_name = 0;
	MT_REQUIRE(!mt_elf_open_memory(builder.bytes, builder.size, "hostile", &hostile));
	MT_REQUIRE(carry(hostile, &seen, &carried));
	MT_CHECK(mt_elf_section_info(carried.elf, 0, &info));
	MT_CHECK(info.type == SHT_NOBITS);
	MT_CHECK(!mt_elf_section(carried.elf, ".eh_frame").bytes);
	MT_CHECK(carried.size < builder.size);
}

/* Reads the C library: its unwind tables are so large that their index is used. */
static uint8_t *read_library(size_t *size)
{
	MT_CLEANUP_FREE char *path = NULL;
	uint8_t *whole;
	FILE *file;

	dl_iterate_phdr(find_libc, &path);
	file = fopen(path ? path : "/proc/self/exe", "re");

	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	whole = malloc(*size);
	if (whole && fread(whole, 1, *size, file) != *size)
		*size = 0;
	fclose(file);
	return whole;
}

/* The place and size of a section in the file. */
static size_t section_in(struct mt_elf *elf, const char *name, size_t *size)
{
	struct mt_span span = mt_elf_section(elf, name), all = mt_elf_whole(elf);

	*size = span.size;
	return span.bytes ? (size_t)(span.bytes - all.bytes) : 0;
}

MT_TEST(tables_that_only_program_headers_lead_to)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *symtab = NULL;
	MT_CLEANUP(mt_cfi_destroy_p) struct mt_cfi *cfi = NULL;
	MT_CLEANUP(carried_deinit) struct carried carried = {0};
	static struct seen seen;
	size_t size = 0;

	bytes = read_library(&size);
	MT_REQUIRE(bytes && size);
	((Elf64_Ehdr *)bytes)->e_shoff = ((Elf64_Ehdr *)bytes)->e_shnum = 0;
	MT_REQUIRE(!mt_elf_open_memory(bytes, size, "bare", &elf));
	see_code(&seen, elf, 300);
	symtab = mt_symtab_create(elf, elf);
	cfi = mt_cfi_of_elf(elf);
	MT_REQUIRE(symtab && cfi && carry(elf, &seen.code, &carried));
	MT_CHECK(mt_elf_section(carried.elf, ".eh_frame").size);
	check_frames(carried.elf);
	check_places(symtab, cfi, &carried, &seen);
}

static void try_damaged(const uint8_t *bytes, size_t size, const struct seen *seen)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP(carried_deinit) struct carried carried = {0};

	MT_REQUIRE(!mt_elf_open_memory(bytes, size, "damaged", &elf));
	MT_REQUIRE(carry(elf, &seen->code, &carried));
	for (size_t i = 0; i < seen->code.count; i += 7) {
		struct mt_cfi_row row;
		uint64_t start;

		(void)mt_cfi_find(carried.cfi, seen->units[i], &row);
		(void)mt_symtab_find(carried.symtab, seen->units[i], &start);
	}
}

MT_TEST(damaged_tables_do_no_harm)
{
	static const char *const names[] = {".eh_frame", ".eh_frame_hdr", ".symtab", ".dynsym"};
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	static struct seen seen;
	size_t size = 0;

	bytes = read_library(&size);
	MT_REQUIRE(bytes && size && !mt_elf_open_memory(bytes, size, "whole", &elf));
	see_code(&seen, elf, 300);
	for (unsigned int round = 0; round < 200; round++) {
		size_t in, at = section_in(elf, names[round % 4], &in);
		uint8_t old[64];

		if (in <= sizeof(old))
			continue;
		at += random_below(2) ? random_below((uint32_t)(in - sizeof(old))) : 0;
		memcpy(old, bytes + at, sizeof(old));
		for (size_t i = 0; i < sizeof(old); i += 1 + random_below(40))
			bytes[at + i] = (uint8_t)random_below(256);
		try_damaged(bytes, size, &seen);
		memcpy(bytes + at, old, sizeof(old));
	}
}

MT_TEST(tables_that_are_cut_short_do_no_harm)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	static struct seen seen;
	size_t size = 0, at, in;

	bytes = read_library(&size);
	MT_REQUIRE(bytes && size && !mt_elf_open_memory(bytes, size, "whole", &elf));
	see_code(&seen, elf, 300);
	at = section_in(elf, ".eh_frame", &in);
	MT_REQUIRE(at && in > 1000);
	((Elf64_Ehdr *)bytes)->e_shoff = ((Elf64_Ehdr *)bytes)->e_shnum = 0;
	for (size_t left = 0; left < 40; left++) {
		MT_CLEANUP_FREE uint8_t *exact = malloc(at + in - left);

		MT_REQUIRE(exact);
		memcpy(exact, bytes, at + in - left);
		try_damaged(exact, at + in - left, &seen);
		try_damaged(exact, at + 1 + left, &seen);
	}
}

/* The file is changed between planning and writing. */
MT_TEST(as_much_is_written_as_was_planned)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL, *original = NULL, *out = NULL;
	static struct seen seen;
	struct mt_skeleton_wish wish = {.names = true, .unwind = true, .seen = &seen.code};
	size_t size = 0;

	bytes = read_library(&size);
	original = read_library(&size);
	MT_REQUIRE(bytes && original && size && !mt_elf_open_memory(bytes, size, "whole", &elf));
	see_code(&seen, elf, 300);
	for (int fill = 0; fill < 256; fill += 85) {
		struct mt_skeleton *skeleton = NULL;
		uint8_t *at;

		MT_REQUIRE(!mt_skeleton_create(elf, NULL, &wish, NULL, &skeleton));
		free(out);
		out = at = malloc(mt_skeleton_size(skeleton));
		memset(bytes, fill, size);
		MT_CHECK(out &&
			 mt_skeleton_write(skeleton, &(struct mt_skeleton_output){&at, put_bytes}));
		MT_CHECK_EQ(at - out, mt_skeleton_size(skeleton));
		mt_skeleton_destroy(skeleton);
		memcpy(bytes, original, size);
	}
}

MT_TEST_MAIN
