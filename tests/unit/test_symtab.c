/*
 * The table of functions: the name of each address in made ELF files, compared with the table's
 * rules.
 */
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "symbols/elf/elf.h"
#include "symbols/names/symtab.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_symtab, struct mt_symtab)

#define TEXT 0x1000
#define MAX_SYMBOLS 220

static struct elf_builder builder;

/* The symbols to add, with their names in one string table. */
static struct {
	Elf64_Sym symbols[MAX_SYMBOLS];
	size_t count;
	char names[4096];
	size_t names_size;
} made;

static void start(void)
{
	memset(&made, 0, sizeof(made));
	made.count = made.names_size = 1;
	builder_init(&builder, ET_DYN);
	builder_add_segment(&builder, PT_LOAD, PF_R | PF_X, 0, TEXT, 0x1000);
	builder_add_section(&builder, ".text", SHT_PROGBITS, TEXT, NULL, 0x1000)->sh_flags =
		SHF_ALLOC | SHF_EXECINSTR;
	builder_add_section(&builder, ".data", SHT_PROGBITS, 0x8000, NULL, 0x1000)->sh_flags =
		SHF_ALLOC;
}

static Elf64_Sym *add(const char *name, unsigned int binding, unsigned int type, uint64_t at,
		      uint64_t size)
{
	Elf64_Sym *s = &made.symbols[made.count++];

	*s = (Elf64_Sym){
		.st_name = (Elf64_Word)made.names_size,
		.st_info = (unsigned char)ELF64_ST_INFO(binding, type),
		.st_shndx = 1,
		.st_value = TEXT + at,
		.st_size = size,
	};
	memcpy(made.names + made.names_size, name, strlen(name) + 1);
	made.names_size += strlen(name) + 1;
	return s;
}

static void function(const char *name, uint64_t at, uint64_t size)
{
	add(name, STB_GLOBAL, STT_FUNC, at, size);
}

/* Builds the file with the symbols and opens it. */
static struct mt_elf *finish(bool dynamic)
{
	struct mt_elf *elf = NULL;

	builder_add_symbols(&builder, dynamic, made.symbols, made.count, made.names,
			    made.names_size);
	builder_finish(&builder);
	MT_CHECK_OK(mt_elf_open_memory(builder.bytes, builder.size, "made", &elf));
	return elf;
}

#define MT_MADE_TABLE(dynamic)                                             \
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = finish(dynamic); \
	MT_CLEANUP(mt_symtab_destroy_p)                                    \
	struct mt_symtab *symtab = mt_symtab_create(elf, elf);

/* Checks the name at an offset of .text; NULL if there must be none. */
static void check_at(struct mt_symtab *symtab, uint64_t at, const char *expected)
{
	uint64_t from;
	uint32_t f = mt_symtab_find(symtab, TEXT + at, &from);
	MT_CLEANUP_FREE char *name = f == MT_SYMTAB_NONE ? NULL : mt_symtab_name(symtab, f, true);

	MT_CHECK_STR(name, expected);
}

MT_TEST(sizes_are_respected)
{
	start();
	function("one", 0x10, 0x10);
	function("two", 0x40, 0x10);
	MT_MADE_TABLE(false)

	check_at(symtab, 0x0f, NULL);
	check_at(symtab, 0x10, "one");
	check_at(symtab, 0x1f, "one");
	check_at(symtab, 0x20, NULL);
	check_at(symtab, 0x4f, "two");
	check_at(symtab, 0x50, NULL);
	check_at(symtab, UINT64_MAX - TEXT, NULL);
}

MT_TEST(a_symbol_without_size_reaches_to_the_next)
{
	start();
	function("bare", 0x10, 0);
	function("two", 0x40, 0x10);
	function("last", 0xff0, 0);
	MT_MADE_TABLE(false)

	check_at(symtab, 0x3f, "bare");
	check_at(symtab, 0x40, "two");
	check_at(symtab, 0xfff, "last");
	check_at(symtab, 0x1000, NULL); /* does not reach past its section */
}

MT_TEST(global_before_weak_before_local)
{
	start();
	add("gsignal", STB_WEAK, STT_FUNC, 0, 8);
	add("raise", STB_GLOBAL, STT_FUNC, 0, 8);
	add("weak_one", STB_WEAK, STT_FUNC, 0x10, 8);
	add("local_one", STB_LOCAL, STT_FUNC, 0x10, 8);
	add("local_two", STB_LOCAL, STT_FUNC, 0x20, 8);
	add("global_two", STB_GLOBAL, STT_FUNC, 0x20, 8);
	MT_MADE_TABLE(false)

	check_at(symtab, 4, "raise");
	check_at(symtab, 0x14, "weak_one");
	check_at(symtab, 0x24, "global_two");
}

MT_TEST(among_equals_names_decide)
{
	start();
	function("__libc_malloc", 0, 8);
	function("malloc", 0, 8);
	function("short", 0x10, 8);
	function("longer_name", 0x10, 8);
	function("first", 0x20, 8);
	function("again", 0x20, 8);
	function("_ZN1aC2Ev", 0x30, 8); /* both are a::a */
	function("_ZN1aC1Ev", 0x30, 8);
	function("sized", 0x40, 8);
	function("with_longer_name_but_sized_less", 0x40, 4);
	MT_MADE_TABLE(false)

	check_at(symtab, 0, "malloc");
	check_at(symtab, 0x10, "longer_name");
	check_at(symtab, 0x20, "first");
	check_at(symtab, 0x30, "a::a");
	check_at(symtab, 0x42, "with_longer_name_but_sized_less");
	check_at(symtab, 0x46, NULL);
}

MT_TEST(among_those_without_size_the_last)
{
	start();
	function("sha_hash_many_sse2", 0, 0);
	function("_sha_hash_many_sse2", 0, 0);
	add("weak_but_last", STB_WEAK, STT_FUNC, 0x10, 0);
	add("strong", STB_GLOBAL, STT_FUNC, 0x10, 4);
	add("global", STB_GLOBAL, STT_FUNC, 0x20, 0);
	add("local", STB_LOCAL, STT_FUNC, 0x20, 0);
	MT_MADE_TABLE(false)

	check_at(symtab, 4, "_sha_hash_many_sse2");
	check_at(symtab, 0x12, "strong");
	check_at(symtab, 0x22, "local");
}

MT_TEST(a_label_inside_a_function_does_not_end_it)
{
	start();
	function("whole", 0x10, 0x20);
	add("label", STB_LOCAL, STT_NOTYPE, 0x18, 0);
	add("outside", STB_LOCAL, STT_NOTYPE, 0x30, 0);
	MT_MADE_TABLE(false)

	check_at(symtab, 0x1c, "whole");
	check_at(symtab, 0x34, "outside");
}

MT_TEST(of_nested_symbols_the_innermost)
{
	start();
	function("outer", 0, 0x100);
	function("inner", 0x10, 0x20);
	function("innermost", 0x18, 0x8);
	function("crossing", 0x28, 0x20); /* begins in inner and ends after it */
	MT_MADE_TABLE(false)

	check_at(symtab, 0x08, "outer");
	check_at(symtab, 0x10, "inner");
	check_at(symtab, 0x1f, "innermost");
	check_at(symtab, 0x20, "inner");
	check_at(symtab, 0x28, "crossing");
	check_at(symtab, 0x38, "crossing");
	check_at(symtab, 0x48, "outer");
	check_at(symtab, 0xff, "outer");
	check_at(symtab, 0x100, NULL);
}

MT_TEST(what_is_no_code_names_none)
{
	start();
	add("label", STB_LOCAL, STT_NOTYPE, 0x10, 0);
	add("data_label", STB_LOCAL, STT_NOTYPE, 0x7010, 8)->st_shndx = 2;
	add("hidden", STB_GLOBAL, STT_NOTYPE, 0x20, 8)->st_other = STV_HIDDEN;
	add("undefined", STB_GLOBAL, STT_FUNC, 0x30, 8)->st_shndx = SHN_UNDEF;
	add("tls", STB_GLOBAL, STT_TLS, 0x40, 8);
	add("ifunc", STB_GLOBAL, STT_GNU_IFUNC, 0x50, 8);
	MT_MADE_TABLE(false)

	check_at(symtab, 0x10, "label");
	check_at(symtab, 0x41, "label");
	check_at(symtab, 0x7010, NULL);
	check_at(symtab, 0x50, "ifunc");
	MT_CHECK_EQ(mt_symtab_count(symtab), 2);
}

MT_TEST(versions_are_cut_off)
{
	start();
	function("memcpy@@GLIBC_2.14", 0, 8);
	function("memcpy@GLIBC_2.2.5", 0x10, 8);
	function("@odd", 0x20, 8);
	MT_MADE_TABLE(false)

	check_at(symtab, 0, "memcpy");
	check_at(symtab, 0x10, "memcpy");
	check_at(symtab, 0x20, "@odd");
}

MT_TEST(dynamic_symbols_serve_too)
{
	start();
	function("exported", 0x10, 8);
	MT_MADE_TABLE(true)

	check_at(symtab, 0x12, "exported");
}

MT_TEST(absurd_symbols_are_survived)
{
	start();
	function("everything", 0, UINT64_MAX);
	function("wraps", UINT64_MAX - TEXT, 100);
	function("inside", 0x100, 0x10);
	MT_MADE_TABLE(false)

	check_at(symtab, 0x50, "everything");
	check_at(symtab, 0x108, "inside");
	check_at(symtab, 0x110, "everything");
}

MT_TEST(plt_stubs_have_the_name_of_their_slot)
{
	/*
	 * two stubs of 16 bytes after a header: jmp *disp(%rip); the second slot's relocation comes
	 * first
	 */
	uint8_t plt[48] = {0};
	Elf64_Rela rela[] = {
		{.r_offset = 0x9008, .r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT)},
		{.r_offset = 0x9000, .r_info = ELF64_R_INFO(2, R_X86_64_JUMP_SLOT)},
		{.r_offset = 0x9010,
		 .r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE),
		 .r_addend = TEXT + 0x10},
	};
	int32_t disp;

	start();
	add("puts", STB_GLOBAL, STT_FUNC, 0, 0)->st_shndx = SHN_UNDEF;
	add("_ZdlPv", STB_GLOBAL, STT_FUNC, 0, 0)->st_shndx = SHN_UNDEF;
	function("strlen", 0x10, 8);
	for (int i = 0; i < 3; i++) {
		plt[16 * i] = 0xff;
		plt[16 * i + 1] = 0x25;
		disp = 0x9000 + 8 * i - (0x3000 + 16 * i + 6);
		memcpy(plt + 16 * i + 2, &disp, sizeof(disp));
	}
	builder_add_section(&builder, ".plt", SHT_PROGBITS, 0x3000, plt, sizeof(plt));
	builder_add_section(&builder, ".rela.plt", SHT_RELA, 0, rela, sizeof(rela));
	MT_MADE_TABLE(true)

	check_at(symtab, 0x2000, "operator delete@plt");
	check_at(symtab, 0x2010, "puts@plt");
	check_at(symtab, 0x202f, "strlen@plt");
	check_at(symtab, 0x2030, NULL);
}

MT_TEST(random_overlaps_equal_a_slow_search)
{
	char name[16];

	srand(7);
	for (int round = 0; round < 60; round++) {
		start();
		for (int i = 0; i < 200; i++) {
			snprintf(name, sizeof(name), "f%d", i);
			/* starts are distinct: other tests have equal ones */
			function(name, (uint64_t)i * 5 + (uint64_t)rand() % 5,
				 1 + (uint64_t)rand() % (round % 2 ? 60 : 6));
		}
		MT_MADE_TABLE(false)

		for (uint64_t at = 0; at < 1070; at++) {
			uint64_t best = 0, from = 0;
			uint32_t found = mt_symtab_find(symtab, TEXT + at, &from);

			for (size_t i = 1; i < made.count; i++) {
				const Elf64_Sym *s = &made.symbols[i];

				if (s->st_value <= TEXT + at &&
				    TEXT + at - s->st_value < s->st_size && s->st_value > best)
					best = s->st_value;
			}
			MT_REQUIRE((found == MT_SYMTAB_NONE) == !best && (!best || from == best));
		}
	}
}

MT_TEST_MAIN
