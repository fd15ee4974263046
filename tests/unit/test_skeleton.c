/*
 * Skeletons of real files give every address the name and the unwind row that the file gives.
 * Damaged files give a skeleton or an error.
 */
#include "symbols/carried/skeleton.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/elf/elf.h"
#include "symbols/names/symtab.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/same_code.h"
#include "tests/unit/unit.h"
#include "unwind/cfi/cfi_rules.h"

MT_DEFINE_CLEANUP(mt_symtab, struct mt_symtab)

static const struct mt_skeleton_wish everything = {.names = true, .unwind = true};

/* Finds the path of the C library in this process. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	*(char **)context = strdup(info->dlpi_name);
	return 1;
}

/* Opens the skeleton of a file; the caller frees *bytes after destroying it. */
static struct mt_elf *skeleton_of(struct mt_elf *elf, const struct mt_skeleton_wish *wish,
				  uint8_t **bytes, size_t *size)
{
	struct mt_elf *skeleton = NULL;

	if (!MT_CHECK(!mt_skeleton_make(elf, NULL, wish, bytes, size)))
		return NULL;
	MT_CHECK(!mt_elf_open_skeleton(*bytes, *size, "skeleton", &skeleton));
	return skeleton;
}

/* Whether the rules kept for the code around an address agree with its row. */
static bool same_kept(struct mt_cfi *cfi, uint64_t vaddr)
{
	const struct mt_cfi_rules *rules = mt_cfi_rules_at(cfi, vaddr);
	struct mt_cfi_row row;
	struct mt_rule kept, rule;
	enum mt_cfi_found found = mt_cfi_find(cfi, vaddr, &row);

	if (!rules || !mt_cfi_rules_find(rules, vaddr, &kept))
		return !rules == (found == MT_CFI_NONE);
	rule = mt_rule_from_row(&row, vaddr);
	return found == MT_CFI_FOUND && !memcmp(&kept, &rule, sizeof(rule));
}

/* Compares every STEP-th address of the file's code. */
static void compare_all(struct mt_elf *elf, struct mt_elf *skeleton, uint64_t step)
{
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *symtab = mt_symtab_create(elf, elf);
	MT_CLEANUP(mt_symtab_destroy_p)
	struct mt_symtab *carried = mt_symtab_create(skeleton, skeleton);
	MT_CLEANUP(mt_cfi_destroy_p)
	struct mt_cfi *cfi = mt_cfi_of_elf(elf), *carried_cfi = mt_cfi_of_elf(skeleton);
	size_t count, names = 0, rows = 0, kept = 0, asked = 0;
	const struct mt_segment *segments = mt_elf_segments(elf, &count);

	MT_REQUIRE(symtab && carried && cfi && carried_cfi);
	for (size_t i = 0; i < count; i++) {
		const struct mt_segment *s = &segments[i];

		for (uint64_t at = 0; s->flags & PF_X && at < s->file_size; at += step, asked++) {
			names += !same_name(symtab, carried, s->vaddr + at);
			rows += !same_row(cfi, carried_cfi, s->vaddr + at);
			kept += !same_kept(cfi, s->vaddr + at);
		}
	}
	MT_CHECK(asked > 1000);
	MT_CHECK_EQ(names, 0);
	MT_CHECK_EQ(rows, 0);
	MT_CHECK_EQ(kept, 0);
}

static void check_file(const char *path, uint64_t step)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *skeleton = NULL;
	struct mt_span id, carried_id;
	uint64_t vaddr = 1, carried_vaddr = 2;
	size_t size;

	MT_REQUIRE(!mt_elf_open_file(path, &elf));
	skeleton = skeleton_of(elf, &everything, &bytes, &size);
	MT_REQUIRE(skeleton);
	id = mt_elf_build_id(elf);
	carried_id = mt_elf_build_id(skeleton);
	MT_CHECK_EQ(carried_id.size, id.size);
	MT_CHECK(!id.size || !memcmp(id.bytes, carried_id.bytes, id.size));
	MT_CHECK_EQ(mt_elf_machine(skeleton), mt_elf_machine(elf));
	MT_CHECK(mt_elf_offset_to_vaddr(elf, 0x1000, &vaddr) ==
		 mt_elf_offset_to_vaddr(skeleton, 0x1000, &carried_vaddr));
	MT_CHECK_EQ(vaddr, carried_vaddr);
	compare_all(elf, skeleton, step);
}

MT_TEST(this_program_is_named_and_unwound_as_from_its_file)
{
	check_file("/proc/self/exe", 3);
}

MT_TEST(the_c_library_is_named_and_unwound_as_from_its_file)
{
	MT_CLEANUP_FREE char *path = NULL;

	dl_iterate_phdr(find_libc, &path);
	if (!path)
		MT_SKIP("this program has no C library of its own");
	check_file(path, 7);
}

MT_TEST(bytes_that_were_left_out_are_not_there)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *skeleton = NULL;
	struct mt_elf_section_info info;
	struct mt_span text;
	size_t size;

	MT_REQUIRE(!mt_elf_open_file("/proc/self/exe", &elf));
	skeleton = skeleton_of(elf, &everything, &bytes, &size);
	MT_REQUIRE(skeleton);
	text = mt_elf_section(elf, ".text");
	MT_CHECK(mt_elf_bytes_at(elf, text.vaddr, 8));
	MT_CHECK(!mt_elf_bytes_at(skeleton, text.vaddr, 8));
	MT_CHECK(!mt_elf_section(skeleton, ".text").size);
	MT_REQUIRE(mt_elf_section_info(skeleton, mt_elf_find_section(skeleton, ".text"), &info));
	MT_CHECK_EQ(info.size, text.size);
	MT_CHECK(!mt_elf_section(skeleton, ".debug_info").bytes);
	MT_CHECK(!mt_elf_section(skeleton, ".eh_frame_hdr").bytes);
}

MT_TEST(only_what_is_wished_for_is_kept)
{
	static const struct mt_skeleton_wish names = {.names = true}, unwind = {.unwind = true};
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL, *others = NULL;
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *named = NULL, *unwound = NULL;
	size_t size;

	MT_REQUIRE(!mt_elf_open_file("/proc/self/exe", &elf));
	named = skeleton_of(elf, &names, &bytes, &size);
	unwound = skeleton_of(elf, &unwind, &others, &size);
	MT_REQUIRE(named && unwound);
	MT_CHECK(mt_elf_symbol_count(named, false));
	MT_CHECK(!mt_elf_section(named, ".eh_frame").bytes);
	MT_CHECK(!mt_elf_symbol_count(unwound, false));
	MT_CHECK(!mt_elf_symbol_count(unwound, true));
	MT_CHECK(mt_elf_section(unwound, ".eh_frame").bytes);
}

/* A file with changed bytes gives a skeleton that can be read, or an error. */
/* A section named .eh_frame that is marked as code and has no bytes. */
MT_TEST(unwind_tables_without_bytes_are_not_kept)
{
	static const char hdr[] = "\1\x1b\3\x3b\0\0\0\x60\0\0\0\0";
	static struct elf_builder builder;
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *skeleton = NULL;
	struct mt_elf_section_info info;
	size_t size;

	builder_init(&builder, ET_DYN);
	builder_add_section(&builder, ".eh_frame_hdr", SHT_NOTE, 0x1000, hdr, 12);
	builder_add_section(&builder, ".eh_frame", SHT_NOBITS, 0x2000, NULL, (size_t)1 << 40)
		->sh_flags = SHF_EXECINSTR;
	builder_finish(&builder);
	MT_REQUIRE(!mt_elf_open_memory(builder.bytes, builder.size, "lying", &elf));
	skeleton = skeleton_of(elf, &everything, &bytes, &size);
	MT_REQUIRE(skeleton);
	MT_CHECK(!mt_elf_section(skeleton, ".eh_frame").bytes);
	if (mt_elf_section_info(skeleton, mt_elf_find_section(skeleton, ".eh_frame"), &info))
		MT_CHECK_EQ(info.size, 0);
}

MT_TEST(damaged_files_do_no_harm)
{
	MT_CLEANUP_FREE uint8_t *whole = NULL;
	uint32_t random = 1;
	size_t size, read = 0;
	FILE *file = fopen("/proc/self/exe", "re");

	MT_REQUIRE(file);
	fseek(file, 0, SEEK_END);
	size = (size_t)ftell(file);
	rewind(file);
	whole = malloc(size);
	MT_REQUIRE(whole);
	read = fread(whole, 1, size, file);
	fclose(file);
	MT_REQUIRE(read == size);
	for (int round = 0; round < 200; round++) {
		MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL, *skeleton = NULL;
		MT_CLEANUP_FREE uint8_t *bytes = NULL;
		size_t made, at, length = round % 4 ? size : size / 4 * (size_t)(round % 3 + 1);
		uint8_t old[8];
		struct mt_error *err;

		random = random * 1103515245 + 12345;
		/*
		 * half of the damage is in the headers: of the file and of segments, or of sections
		 */
		at = round % 2 ? random % 1024 : size - 8 - random % 4096;
		memcpy(old, whole + at, 8);
		for (int i = 0; i < 8; i++)
			whole[at + (size_t)i] =
				(uint8_t)((random = random * 1103515245 + 12345) >> 16);
		err = mt_elf_open_memory(whole, length, "damaged", &elf);
		if (!err)
			err = mt_skeleton_make(elf, NULL, &everything, &bytes, &made);
		if (!err && MT_CHECK(!mt_elf_open_skeleton(bytes, made, "skeleton", &skeleton))) {
			MT_CLEANUP(mt_symtab_destroy_p)
			struct mt_symtab *symtab = mt_symtab_create(skeleton, skeleton);
			uint64_t start;

			MT_CHECK(symtab);
			if (symtab)
				(void)mt_symtab_find(symtab, 0x1234, &start);
		}
		mt_error_destroy(err);
		memcpy(whole + at, old, 8);
	}
}

MT_TEST_MAIN
