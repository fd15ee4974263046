/*
 * symbols/carried/skeleton_symbols: large tables, whole and limited to seen code, with all code
 * seen. Half of the dynamic symbols are in .symtab too, and some names are longer than the buffer.
 * Every symbol that is kept gives its function the same name as the file.
 */
#include "symbols/carried/skeleton_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/carried/seen_code.h"
#include "symbols/carried/skeleton.h"
#include "symbols/elf/elf.h"
#include "symbols/names/symtab.h"
#include "tests/unit/unit.h"

#define BUILDER_BYTES ((size_t)16 << 20)
#include "tests/unit/elf_builder.h"

#define EACH_TABLE 60000u /* symbols */
#define SHARED 30000u	  /* the last symbols of .symtab are the first ones of .dynsym */
#define FUNCTIONS (2 * EACH_TABLE - SHARED)
#define TEXT 0x100000u
#define EACH 16u
#define LONG_EVERY 20000u
#define LONG 65530u /* bytes of a name; each next long name is one byte longer */

MT_DEFINE_CLEANUP(mt_symtab, struct mt_symtab)

static struct elf_builder builder;

/* The address of function i, scrambled, so that tables are not sorted by address. */
static uint64_t address_of(uint32_t i)
{
	return TEXT + (uint64_t)(i * 7919u % FUNCTIONS) * EACH;
}

static size_t put_name(uint32_t i, char *at)
{
	size_t size = (size_t)sprintf(at, "function_%u", i);

	if (i % LONG_EVERY == LONG_EVERY / 2) {
		size_t length = LONG + i / LONG_EVERY;

		memset(at + size, 'x', length - size);
		size = length;
		at[size] = '\0';
	}
	return size + 1;
}

/* Adds the symbols of functions from the i-th on. */
static void add_table(uint32_t i, bool dynamic)
{
	static Elf64_Sym symbols[EACH_TABLE + 1];
	static char names[EACH_TABLE * 24 + 8 * (LONG + 64)];
	size_t used = 1;

	for (uint32_t k = 1; k <= EACH_TABLE; k++, i++) {
		symbols[k] = (Elf64_Sym){
			.st_name = (Elf64_Word)used,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = address_of(i),
			.st_size = EACH,
		};
		used += put_name(i, names + used);
	}
	builder_add_symbols(&builder, dynamic, symbols, EACH_TABLE + 1, names, used);
}

static struct mt_elf *make_file(void)
{
	struct mt_elf *elf = NULL;
	Elf64_Shdr *text;

	builder_init(&builder, ET_DYN);
	text = builder_add_section(&builder, ".text", SHT_NOBITS, TEXT, NULL, 0);
	text->sh_size = (uint64_t)FUNCTIONS * EACH;
	text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	add_table(0, false);
	add_table(EACH_TABLE - SHARED, true);
	builder_finish(&builder);
	MT_CHECK(!mt_elf_open_memory(builder.bytes, builder.size, "made", &elf));
	return elf;
}

/* Number of functions whose name in a skeleton differs from that in the file. */
static size_t wrong_names(struct mt_elf *elf, const struct mt_seen_code *seen)
{
	const struct mt_skeleton_wish wish = {.names = true, .seen = seen};
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *skeleton = NULL;
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *symtab = NULL;
	MT_CLEANUP_FREE uint8_t *bytes = NULL;
	MT_CLEANUP_FREE char *wanted = malloc(LONG + 64);
	size_t size, wrong = 0;

	if (!MT_CHECK(elf && wanted && !mt_skeleton_make(elf, NULL, &wish, &bytes, &size)) ||
	    !MT_CHECK(!mt_elf_open_skeleton(bytes, size, "skeleton", &skeleton)))
		return SIZE_MAX;
	symtab = mt_symtab_create(skeleton, skeleton);
	for (uint32_t i = 0; symtab && i < FUNCTIONS; i++) {
		uint64_t start = 0;
		uint32_t found = mt_symtab_find(symtab, address_of(i) + 3, &start);
		MT_CLEANUP_FREE char *name =
			found == MT_SYMTAB_NONE ? NULL : mt_symtab_name(symtab, found, false);

		put_name(i, wanted);
		wrong += start != address_of(i) || !name || strcmp(name, wanted) != 0;
	}
	return symtab ? wrong : SIZE_MAX;
}

MT_TEST(large_tables_name_what_they_did)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = make_file();

	MT_CHECK_EQ(wrong_names(elf, NULL), 0);
}

MT_TEST(large_tables_of_which_all_code_was_seen_name_what_they_did)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = make_file();
	MT_CLEANUP_FREE uint64_t *units = calloc(FUNCTIONS, sizeof(*units));

	MT_REQUIRE(units);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		units[i] = TEXT + (uint64_t)i * EACH;
	MT_CHECK_EQ(wrong_names(elf, &(struct mt_seen_code){units, FUNCTIONS}), 0);
}

MT_TEST_MAIN
