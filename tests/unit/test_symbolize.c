/* Names of addresses of this program, of its kernel, and of files without symbols. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "symbols/elf/elf.h"
#include "symbols/images/image.h"
#include "symbols/names/kernel.h"
#include "symbols/names/symbolize.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_image_set, struct mt_image_set)
MT_DEFINE_CLEANUP(mt_symbolizer, struct mt_symbolizer)
MT_DEFINE_CLEANUP(mt_kernel_symbols, struct mt_kernel_symbols)
#define MT_SET_GUARD MT_CLEANUP(mt_image_set_destroy_p) struct mt_image_set *
#define MT_SYMBOLIZER_GUARD MT_CLEANUP(mt_symbolizer_destroy_p) struct mt_symbolizer *

static const struct mt_symbolizer_options plain = {.demangle = true};

static struct mt_image_set *local_set(void)
{
	struct mt_image_set *set = mt_image_set_create();

	MT_CHECK(mt_image_set_add_source(set, &mt_image_source_local, NULL));
	return set;
}

static struct mt_image *intern(struct mt_image_set *set, const char *path)
{
	return mt_image_set_intern(set, &(struct mt_image_identity){.path = path});
}

/* The file offset of a function of this program. */
static bool offset_of(struct mt_elf *elf, const char *name, uint64_t *offset)
{
	struct mt_elf_symbol symbol;
	size_t segments;
	const struct mt_segment *s = mt_elf_segments(elf, &segments);

	for (size_t i = 0; i < mt_elf_symbol_count(elf, false); i++) {
		if (!mt_elf_symbol(elf, false, i, &symbol) || strcmp(symbol.name, name) != 0)
			continue;
		for (size_t k = 0; k < segments; k++) {
			if (symbol.value >= s[k].vaddr &&
			    symbol.value - s[k].vaddr < s[k].file_size) {
				*offset = symbol.value - s[k].vaddr + s[k].offset;
				return true;
			}
		}
	}
	return false;
}

MT_TEST(a_function_of_this_program)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	MT_SET_GUARD set = local_set();
	MT_SYMBOLIZER_GUARD symbolizer = mt_symbolizer_create(&plain);
	const struct mt_symbol *symbol;
	struct mt_image *image;
	uint64_t offset;

	MT_REQUIRE(n > 0);
	path[n] = '\0';
	image = intern(set, path);
	MT_REQUIRE(mt_image_elf(image) && offset_of(mt_image_elf(image), "main", &offset));
	symbol = mt_symbolize(symbolizer, image, offset + 1);
	MT_CHECK_STR(symbol->name, "main");
	MT_CHECK_STR(symbol->dso, path);
	MT_CHECK_EQ(symbol->offset, 1);
	MT_CHECK(symbol->resolved);
	MT_CHECK_EQ(mt_symbolize(symbolizer, image, offset)->offset, 0);
	MT_CHECK_STR(mt_symbolize(symbolizer, image, offset + 1)->name, "main");
	MT_CHECK(!mt_symbolize(symbolizer, image, UINT64_MAX)->resolved);
}

MT_TEST(what_has_no_symbols_is_called_by_its_image)
{
	MT_SET_GUARD set = local_set();
	MT_SYMBOLIZER_GUARD symbolizer = mt_symbolizer_create(&plain);
	const struct mt_symbol *symbol;

	symbol = mt_symbolize(symbolizer, intern(set, "/nonexistent/libx.so.6"), 0x1234);
	MT_CHECK_STR(symbol->name, "[libx.so.6]");
	MT_CHECK_STR(symbol->dso, "/nonexistent/libx.so.6");
	MT_CHECK(!symbol->resolved && !symbol->offset);
	MT_CHECK_STR(symbol->shown, "/nonexistent/libx.so.6");
	MT_CHECK(mt_image_set_started(set, "/bin/box", "sh") &&
		 mt_image_set_run_as(set, "/bin/box", "sh"));
	symbol = mt_symbolize(symbolizer, intern(set, "/bin/box"), 0);
	MT_CHECK_STR(symbol->name, "[sh]");
	MT_CHECK_STR(symbol->shown, "/bin/sh");
	MT_CHECK_STR(symbol->dso, "/bin/box");
	MT_CHECK_STR(mt_symbolize(symbolizer, intern(set, "//anon"), 0)->name, "[anon]");
	MT_CHECK_STR(mt_symbolize(symbolizer, intern(set, "[heap]"), 0)->name, "[heap]");
	MT_CHECK_STR(mt_symbolize(symbolizer, intern(set, ""), 0)->name, "[unknown]");
	MT_CHECK_STR(mt_symbolize(symbolizer, NULL, 0)->name, "[unknown]");
	MT_CHECK_STR(mt_symbolize(symbolizer, NULL, 0)->dso, "[unknown]");
	MT_CHECK_STR(mt_symbolize(symbolizer, intern(set, "[kernel.kallsyms]"), 0)->name,
		     "[kernel.kallsyms]");
	MT_CHECK_STR(mt_symbolize(symbolizer, intern(set, "[nf_tables]"), 1)->name, "[nf_tables]");
}

MT_TEST(kernel_addresses_have_their_names)
{
	static const char text[] = "ffffffff81000000 T do_brk\nffffffff81000100 T end\n"
				   "ffffffffc0000000 t ext4_x\t[ext4]\n";
	MT_CLEANUP(mt_kernel_symbols_destroy_p) struct mt_kernel_symbols *kernel = NULL;
	MT_SET_GUARD set = local_set();
	MT_SYMBOLIZER_GUARD symbolizer = NULL;
	struct mt_image *image = intern(set, "[kernel.kallsyms]");
	const struct mt_symbol *symbol;

	MT_REQUIRE(MT_CHECK_OK(mt_kernel_symbols_parse(text, sizeof(text) - 1, &kernel)));
	symbolizer = mt_symbolizer_create(&(struct mt_symbolizer_options){.kernel = kernel});
	symbol = mt_symbolize(symbolizer, image, 0xffffffff81000020);
	MT_CHECK_STR(symbol->name, "do_brk");
	MT_CHECK_STR(symbol->dso, "[kernel.kallsyms]");
	MT_CHECK(symbol->resolved && symbol->offset == 0x20);
	MT_CHECK_STR(mt_symbolize(symbolizer, image, 0xffffffffc0000001)->dso, "[ext4]");
	MT_CHECK_STR(mt_symbolize(symbolizer, image, 1)->name, "[kernel.kallsyms]");
}

MT_TEST(a_build_id_that_comes_late_takes_names_back)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	MT_SET_GUARD set = local_set();
	MT_SYMBOLIZER_GUARD symbolizer = mt_symbolizer_create(&plain);
	struct mt_image_identity other = {.path = path, .build_id = {1, 2, 3}, .build_id_size = 3};
	struct mt_image *image;
	uint64_t offset;

	MT_REQUIRE(n > 0);
	path[n] = '\0';
	image = intern(set, path);
	MT_REQUIRE(mt_image_elf(image) && offset_of(mt_image_elf(image), "main", &offset));
	MT_CHECK(mt_symbolize(symbolizer, image, offset)->resolved);
	mt_image_set_learn_build_id(set, &other);
	MT_CHECK(!mt_symbolize(symbolizer, image, offset)->resolved);
}

static uint8_t *carried_bytes;

/* Opens this program as a truncated recording carries it: without main in its symbols. */
static struct mt_error *open_without_main(void *context, const struct mt_image_identity *identity,
					  struct mt_elf **out, char **found_at)
{
	struct mt_span whole = mt_elf_whole(context);
	uint8_t *bytes = malloc(whole.size);
	Elf64_Ehdr header;
	Elf64_Shdr section, names;
	Elf64_Sym symbol;

	(void)identity;
	(void)found_at;
	if (!bytes)
		return mt_error_nomem();
	memcpy(bytes, whole.bytes, whole.size);
	memcpy(&header, bytes, sizeof(header));
	for (size_t i = 0; i < header.e_shnum; i++) {
		memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_SYMTAB)
			continue;
		memcpy(&names, bytes + header.e_shoff + section.sh_link * sizeof(names),
		       sizeof(names));
		for (size_t at = 0; at < section.sh_size; at += sizeof(symbol)) {
			memcpy(&symbol, bytes + section.sh_offset + at, sizeof(symbol));
			if (!strcmp((char *)bytes + names.sh_offset + symbol.st_name, "main"))
				memset(bytes + section.sh_offset + at, 0, sizeof(symbol));
		}
	}
	carried_bytes = bytes;
	return mt_elf_open_memory(bytes, whole.size, "carried", out);
}

MT_TEST(what_is_not_carried_has_the_name_of_the_file)
{
	static const struct mt_image_source carried = {
		.name = "carried", .carried = true, .open = open_without_main};
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	MT_SET_GUARD files = local_set();
	struct mt_elf *file;
	uint64_t offset;

	MT_REQUIRE(n > 0);
	path[n] = '\0';
	file = mt_image_elf(intern(files, path));
	MT_REQUIRE(file && offset_of(file, "main", &offset));
	MT_REQUIRE(mt_elf_build_id(file).size);
	for (int local = 0; local < 2; local++) {
		MT_SET_GUARD set = mt_image_set_create();
		MT_SYMBOLIZER_GUARD symbolizer = mt_symbolizer_create(&plain);
		const struct mt_symbol *symbol;

		MT_CHECK(mt_image_set_add_source(set, &carried, file));
		if (local)
			MT_CHECK(mt_image_set_add_source(set, &mt_image_source_local, NULL));
		symbol = mt_symbolize(symbolizer, intern(set, path), offset + 1);
		MT_CHECK_EQ(symbol->resolved, local);
		if (local)
			MT_CHECK_STR(symbol->name, "main");
		mt_symbolizer_destroy(MT_TAKE(symbolizer));
		mt_image_set_destroy(MT_TAKE(set));
		free(MT_TAKE(carried_bytes));
	}
}

MT_TEST_MAIN
