/* The ELF reader: real files of this machine, and made files with one false statement each. */
#include <elf.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "symbols/elf/elf.h"
#include "tests/unit/elf_builder.h"
#include "tests/unit/unit.h"

#define MT_ELF_GUARD MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *

static struct elf_builder builder;

static struct mt_elf *open_builder(void)
{
	struct mt_elf *elf = NULL;

	MT_CHECK_OK(mt_elf_open_memory(builder.bytes, builder.size, "made", &elf));
	return elf;
}

int test_elf_function(int x);
__attribute__((noinline)) int test_elf_function(int x)
{
	return x * 3;
}

MT_TEST(this_program_is_read)
{
	MT_ELF_GUARD elf = NULL;
	struct mt_elf_symbol symbol, found = {0};
	struct mt_elf_section_info section;
	size_t segments, count;

	MT_REQUIRE(MT_CHECK_OK(mt_elf_open_file("/proc/self/exe", &elf)));
	MT_CHECK(mt_elf_is_64(elf));
	MT_CHECK(mt_elf_segments(elf, &segments) && segments >= 2);
	MT_CHECK(mt_elf_section(elf, ".eh_frame").bytes);
	MT_CHECK(mt_elf_section(elf, ".eh_frame_hdr").vaddr);
	count = mt_elf_symbol_count(elf, false);
	for (size_t i = 0; i < count; i++) {
		if (mt_elf_symbol(elf, false, i, &symbol) &&
		    !strcmp(symbol.name, "test_elf_function"))
			found = symbol;
	}
	MT_REQUIRE(found.name);
	MT_CHECK_EQ(found.type, STT_FUNC);
	MT_CHECK_EQ(found.binding, STB_GLOBAL);
	MT_REQUIRE(mt_elf_section_info(elf, found.section, &section));
	MT_CHECK(section.flags & SHF_EXECINSTR);
	MT_CHECK_STR(section.name, ".text");
	MT_REQUIRE(mt_elf_bytes_at(elf, found.value, found.size));
	MT_CHECK(!memcmp(mt_elf_bytes_at(elf, found.value, found.size), (void *)test_elf_function,
			 found.size));
}

MT_TEST(the_vdso_is_read_from_memory)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	MT_ELF_GUARD elf = NULL;
	struct mt_elf_symbol symbol;
	bool found = false;

	if (!vdso)
		MT_SKIP("no vdso here");
	MT_REQUIRE(MT_CHECK_OK(mt_elf_open_memory(vdso, 4096, "[vdso]", &elf)));
	MT_CHECK(mt_elf_build_id(elf).size);
	for (size_t i = 0; i < mt_elf_symbol_count(elf, true); i++)
		found |= mt_elf_symbol(elf, true, i, &symbol) &&
			 strstr(symbol.name, "clock_gettime");
	MT_CHECK(found);
}

MT_TEST(what_is_no_elf_is_refused)
{
	MT_ELF_GUARD elf = NULL;
	uint8_t big[64] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2MSB};
	uint8_t anomaly[64] = {0x7f, 'E', 'L', 'F', 7, ELFDATA2LSB};
	uint8_t cut[20] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};

	MT_CHECK_ERR(mt_elf_open_memory("", 0, "none", &elf), MT_ERR_FORMAT);
	MT_CHECK_ERR(mt_elf_open_memory("#!/bin/sh and so on", 19, "script", &elf), MT_ERR_FORMAT);
	MT_CHECK_ERR(mt_elf_open_memory(big, sizeof(big), "big", &elf), MT_ERR_UNSUPPORTED);
	MT_CHECK_ERR(mt_elf_open_memory(anomaly, sizeof(anomaly), "odd", &elf), MT_ERR_FORMAT);
	MT_CHECK_ERR(mt_elf_open_memory(cut, sizeof(cut), "cut", &elf), MT_ERR_FORMAT);
	MT_CHECK_ERR(mt_elf_open_file("/nonexistent/file", &elf), MT_ERR_OS);
	MT_CHECK_ERR(mt_elf_open_file("/dev/zero", &elf), MT_ERR_FORMAT);
	MT_CHECK_ERR(mt_elf_open_file("/tmp", &elf), MT_ERR_FORMAT);
	MT_CHECK(!elf);
}

MT_TEST(a_fifo_does_not_block)
{
	char path[] = "/tmp/test_elf.XXXXXX";
	MT_ELF_GUARD elf = NULL;

	MT_REQUIRE(mkdtemp(path));
	rmdir(path);
	MT_REQUIRE(!mkfifo(path, 0600));
	MT_CHECK_ERR(mt_elf_open_file(path, &elf), MT_ERR_FORMAT);
	unlink(path);
}

/* With a mapping the process would get SIGBUS. */
MT_TEST(a_file_that_is_truncated_while_it_is_read_ends_in_zeros)
{
	MT_CLEANUP_CLOSE int fd = memfd_create("cut", MFD_CLOEXEC);
	MT_ELF_GUARD whole = NULL;
	MT_ELF_GUARD elf = NULL;
	struct mt_span all;
	size_t named = 0;

	MT_REQUIRE(MT_CHECK_OK(mt_elf_open_file("/proc/self/exe", &whole)));
	all = mt_elf_whole(whole);
	MT_REQUIRE(write(fd, all.bytes, all.size) == (ssize_t)all.size);
	MT_REQUIRE(MT_CHECK_OK(mt_elf_read_fd(fd, "cut", &elf)));
	MT_REQUIRE(!ftruncate(fd, 0));
	for (size_t i = 0; i < mt_elf_symbol_count(elf, false); i++) {
		struct mt_elf_symbol symbol;

		named += mt_elf_symbol(elf, false, i, &symbol) && *symbol.name;
	}
	MT_CHECK_EQ(mt_elf_whole(elf).size, all.size);
	MT_CHECK(named < mt_elf_symbol_count(whole, false));
}

MT_TEST(what_is_read_is_what_is_mapped)
{
	MT_ELF_GUARD mapped = NULL;
	MT_ELF_GUARD copied = NULL;
	struct mt_span a, b;

	MT_REQUIRE(MT_CHECK_OK(mt_elf_open_file("/proc/self/exe", &mapped)));
	MT_REQUIRE(MT_CHECK_OK(mt_elf_read_named("/proc/self/exe", &copied)));
	MT_CHECK_EQ(mt_elf_symbol_count(mapped, false), mt_elf_symbol_count(copied, false));
	a = mt_elf_section(mapped, ".text");
	b = mt_elf_section(copied, ".text");
	MT_REQUIRE(a.size && a.size == b.size);
	MT_CHECK(!memcmp(a.bytes, b.bytes, a.size));
	a = mt_elf_whole(mapped);
	b = mt_elf_whole(copied);
	MT_REQUIRE(a.size == b.size);
	MT_CHECK(!memcmp(a.bytes, b.bytes, a.size));
}

MT_TEST(build_id_from_segment_and_section)
{
	struct mt_span id;

	builder_init(&builder, ET_DYN);
	builder_add_build_id(&builder, 20);
	builder_finish(&builder);
	{
		MT_ELF_GUARD elf = open_builder();

		id = mt_elf_build_id(elf);
		MT_CHECK_EQ(id.size, 20);
		MT_CHECK(id.bytes && id.bytes[0] == 1 && id.bytes[19] == 20);
	}
	builder_init(&builder, ET_DYN);
	builder_add_section(&builder, ".note.gnu.build-id", SHT_NOTE, 0,
			    "\4\0\0\0\10\0\0\0\3\0\0\0GNU\0abcdefgh", 24);
	builder_finish(&builder);
	{
		MT_ELF_GUARD elf = open_builder();

		id = mt_elf_build_id(elf);
		MT_CHECK(id.size == 8 && !memcmp(id.bytes, "abcdefgh", 8));
	}
}

/* As the linker of Go writes it: four hashes of 20 characters. */
#define GO_HASH "abcdefghij-_ABCDEF12"
#define GO_NOTE \
	"\4\0\0\0\123\0\0\0\4\0\0\0Go\0\0" GO_HASH "/" GO_HASH "/" GO_HASH "/0123456789ABCDEFGHIJ"

MT_TEST(the_end_of_gos_build_id_where_there_is_no_gnu_one)
{
	struct mt_span id;

	builder_init(&builder, ET_EXEC);
	builder_add_section(&builder, ".note.go.buildid", SHT_NOTE, 0, GO_NOTE "\0", 100);
	builder_finish(&builder);
	{
		MT_ELF_GUARD elf = open_builder();

		id = mt_elf_build_id(elf);
		MT_CHECK(id.size == 32 &&
			 !memcmp(id.bytes, "j-_ABCDEF12/0123456789ABCDEFGHIJ", 32));
		MT_CHECK(mt_is_go_build_id(id.bytes, id.size));
	}
	builder_init(&builder, ET_EXEC);
	builder_add_section(&builder, ".note.go.buildid", SHT_NOTE, 0, GO_NOTE "\0", 100);
	builder_add_build_id(&builder, 20);
	builder_finish(&builder);
	{
		MT_ELF_GUARD elf = open_builder();

		id = mt_elf_build_id(elf);
		MT_CHECK_EQ(id.size, 20);
		MT_CHECK(!mt_is_go_build_id(id.bytes, id.size));
	}
}

MT_TEST(long_build_ids_are_cut_and_lying_notes_ignored)
{
	builder_init(&builder, ET_DYN);
	builder_add_build_id(&builder, 64);
	builder_finish(&builder);
	{
		MT_ELF_GUARD elf = open_builder();

		MT_CHECK_EQ(mt_elf_build_id(elf).size, MT_BUILD_ID_MAX);
	}
	builder.bytes[builder_segment(&builder, 0)->p_offset + 7] =
		0x7f; /* desc_size far past the end */
	{
		MT_ELF_GUARD elf = open_builder();

		MT_CHECK_EQ(mt_elf_build_id(elf).size, 0);
	}
}

MT_TEST(sections_outside_the_file_are_absent)
{
	struct mt_elf_section_info info;
	Elf64_Shdr *s;

	builder_init(&builder, ET_DYN);
	s = builder_add_section(&builder, ".far", SHT_PROGBITS, 0x1000, "abc", 4);
	s->sh_offset = UINT64_MAX - 2;
	s = builder_add_section(&builder, ".long", SHT_PROGBITS, 0x1000, "abc", 4);
	s->sh_size = UINT64_MAX;
	builder_add_section(&builder, ".good", SHT_PROGBITS, 0x3000, "abc", 4);
	builder_add_section(&builder, ".bss", SHT_NOBITS, 0x4000, NULL, 512);
	builder_finish(&builder);
	MT_ELF_GUARD elf = open_builder();

	MT_CHECK(!mt_elf_section(elf, ".far").bytes && !mt_elf_section(elf, ".far").size);
	MT_CHECK(!mt_elf_section(elf, ".long").bytes);
	MT_CHECK(!mt_elf_section(elf, ".none").bytes);
	MT_CHECK_STR((const char *)mt_elf_section(elf, ".good").bytes, "abc");
	/* no bytes and no size, but the header has the size */
	MT_CHECK(!mt_elf_section(elf, ".bss").bytes && !mt_elf_section(elf, ".bss").size);
	MT_REQUIRE(mt_elf_section_info(elf, mt_elf_find_section(elf, ".bss"), &info));
	MT_CHECK_EQ(info.size, 512);
}

MT_TEST(offsets_become_addresses)
{
	uint64_t vaddr;

	builder_init(&builder, ET_DYN);
	builder_add_segment(&builder, PT_LOAD, PF_R, 0, 0, 0x1000);
	builder_add_segment(&builder, PT_LOAD, PF_R | PF_X, 0x800, 0x2800, 0x1000);
	builder_add_segment(&builder, PT_LOAD, PF_R | PF_X, UINT64_MAX, 1,
			    0x1000); /* wraps: dropped */
	builder_finish(&builder);
	MT_ELF_GUARD elf = open_builder();

	MT_CHECK(mt_elf_offset_to_vaddr(elf, 0x10, &vaddr) && vaddr == 0x10);
	MT_CHECK(mt_elf_offset_to_vaddr(elf, 0x900, &vaddr) &&
		 vaddr == 0x2900); /* executable first */
	MT_CHECK(mt_elf_offset_to_vaddr(elf, 0x17ff, &vaddr) && vaddr == 0x37ff);
	MT_CHECK(!mt_elf_offset_to_vaddr(elf, 0x1800, &vaddr));
	MT_CHECK(!mt_elf_offset_to_vaddr(elf, UINT64_MAX, &vaddr));
	MT_CHECK(mt_elf_bytes_at(elf, 0, 4) == builder.bytes);
	MT_CHECK(!mt_elf_bytes_at(elf, 0x2800, 0x1001));
	MT_CHECK(!mt_elf_bytes_at(elf, 0x37ff, 1)); /* past the end of the file */
}

MT_TEST(sections_are_found_by_address)
{
	struct mt_elf_section_info section;
	size_t first, second;

	builder_init(&builder, ET_DYN);
	builder_add_section(&builder, ".plt", SHT_PROGBITS, 0x1000, "abcd", 4);
	builder_add_section(&builder, ".tbss", SHT_NOBITS, 0x1002, NULL, 512);
	builder_finish(&builder);
	MT_ELF_GUARD elf = open_builder();

	MT_CHECK(!mt_elf_section_at(elf, 0xfff, 0));
	first = mt_elf_section_at(elf, 0x1003, 0);
	MT_REQUIRE(first && mt_elf_section_info(elf, first, &section));
	MT_CHECK_STR(section.name, ".plt");
	second = mt_elf_section_at(elf, 0x1003, first);
	MT_REQUIRE(second && mt_elf_section_info(elf, second, &section));
	MT_CHECK_STR(section.name, ".tbss");
	MT_CHECK(!mt_elf_section_at(elf, 0x1003, second));
	MT_CHECK_EQ(mt_elf_section_at(elf, 0x1004, 0), second);
}

MT_TEST(symbols_are_bounds_checked)
{
	Elf64_Sym symbols[] = {
		{0},
		{.st_name = 1,
		 .st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC),
		 .st_shndx = 1,
		 .st_value = 16,
		 .st_size = 4},
		{.st_name = 4000},
		{.st_name = 5},
	};
	struct mt_elf_symbol symbol;

	builder_init(&builder, ET_DYN);
	builder_add_symbols(&builder, false, symbols, 4, "\0one\0unterminated", 17);
	builder_finish(&builder);
	MT_ELF_GUARD elf = open_builder();

	MT_CHECK_EQ(mt_elf_symbol_count(elf, false), 4);
	MT_CHECK_EQ(mt_elf_symbol_count(elf, true), 0);
	MT_REQUIRE(mt_elf_symbol(elf, false, 1, &symbol));
	MT_CHECK_STR(symbol.name, "one");
	MT_CHECK(symbol.binding == STB_WEAK && symbol.type == STT_FUNC && symbol.value == 16 &&
		 symbol.size == 4);
	MT_CHECK(!mt_elf_symbol(elf, false, 2, &symbol));
	MT_CHECK(!mt_elf_symbol(elf, false, 3, &symbol));
	MT_CHECK(!mt_elf_symbol(elf, false, 4, &symbol));
}

MT_TEST(large_counts_are_in_section_zero)
{
	Elf64_Ehdr *h = builder_header(&builder);
	Elf64_Shdr *zero;
	size_t segments;

	builder_init(&builder, ET_CORE);
	builder_add_segment(&builder, PT_LOAD, PF_R, 0, 0, 0x100);
	builder_add_section(&builder, ".good", SHT_PROGBITS, 0x3000, "abc", 4);
	builder_finish(&builder);
	zero = (Elf64_Shdr *)(builder.bytes + h->e_shoff);
	zero->sh_info = h->e_phnum;
	zero->sh_size = h->e_shnum;
	zero->sh_link = h->e_shstrndx;
	h->e_phnum = PN_XNUM;
	h->e_shnum = 0;
	h->e_shstrndx = SHN_XINDEX;
	{
		MT_ELF_GUARD elf = open_builder();

		MT_CHECK(mt_elf_segments(elf, &segments) && segments == 1);
		MT_CHECK_STR((const char *)mt_elf_section(elf, ".good").bytes, "abc");
	}
	zero->sh_size = UINT64_MAX; /* maximum number of sections */
	zero->sh_info = UINT32_MAX;
	{
		MT_ELF_GUARD elf = open_builder();

		MT_CHECK_STR((const char *)mt_elf_section(elf, ".good").bytes, "abc");
	}
}

/* Section 0 of a file of 512 MB claims that all of the file is section headers. */
MT_TEST(more_sections_than_a_program_has_are_not_read)
{
	const off_t size = 512 << 20;
	MT_CLEANUP_CLOSE int fd = memfd_create("sections", MFD_CLOEXEC);
	MT_ELF_GUARD elf = NULL;
	size_t before;

	MT_REQUIRE(fd >= 0 && !ftruncate(fd, size));
	builder_init(&builder, ET_DYN);
	builder_finish(&builder);
	builder_header(&builder)->e_shnum = 0;
	((Elf64_Shdr *)(builder.bytes + builder_header(&builder)->e_shoff))->sh_size =
		(size_t)size / sizeof(Elf64_Shdr);
	MT_REQUIRE(pwrite(fd, builder.bytes, builder.size, 0) == (ssize_t)builder.size);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	MT_REQUIRE(!mt_elf_open_fd(fd, "sections", &elf));
	MT_CHECK(mallinfo2().uordblks + mallinfo2().hblkhd - before < 64 << 20);
	MT_CHECK(mt_elf_find_section(elf, ".shstrtab"));
}

MT_TEST(unwind_tables_without_section_headers)
{
	uint8_t eh[64] = {1, 0x1b, 0x03, 0x3b, 28}; /* pcrel sdata4: 4 + 28 bytes after the start */
	uint64_t at;

	builder_init(&builder, ET_DYN);
	at = builder_append(&builder, eh, sizeof(eh));
	builder_add_segment(&builder, PT_LOAD, PF_R, at, 0x5000, sizeof(eh));
	builder_add_segment(&builder, PT_GNU_EH_FRAME, PF_R, at, 0x5000, 32);
	builder_finish(&builder);
	builder_header(&builder)->e_shoff = 0;
	builder_header(&builder)->e_shnum = 0;
	MT_ELF_GUARD elf = open_builder();

	MT_CHECK_EQ(mt_elf_section(elf, ".eh_frame_hdr").vaddr, 0x5000);
	MT_CHECK_EQ(mt_elf_section(elf, ".eh_frame").vaddr, 0x5020);
	MT_CHECK_EQ(mt_elf_section(elf, ".eh_frame").size, 32);
}

MT_TEST(dynamic_symbols_without_section_headers)
{
	Elf64_Sym symbols[2] = {{0}, {.st_name = 1, .st_value = 0x1234}};
	uint32_t hash[] = {1, 2};
	Elf64_Dyn dynamic[6];
	struct mt_elf_symbol symbol;
	uint64_t symbols_at, names_at, hash_at, at;

	builder_init(&builder, ET_DYN);
	symbols_at = builder_append(&builder, symbols, sizeof(symbols));
	names_at = builder_append(&builder, "\0hello", 7);
	hash_at = builder_append(&builder, hash, sizeof(hash));
	dynamic[0] = (Elf64_Dyn){.d_tag = DT_SYMTAB, .d_un.d_ptr = symbols_at};
	dynamic[1] = (Elf64_Dyn){.d_tag = DT_STRTAB, .d_un.d_ptr = names_at};
	dynamic[2] = (Elf64_Dyn){.d_tag = DT_STRSZ, .d_un.d_val = 7};
	dynamic[3] = (Elf64_Dyn){.d_tag = DT_HASH, .d_un.d_ptr = hash_at};
	dynamic[4] = (Elf64_Dyn){.d_tag = DT_NULL};
	at = builder_append(&builder, dynamic, sizeof(dynamic));
	builder_add_segment(&builder, PT_LOAD, PF_R, 0, 0, at);
	builder_add_segment(&builder, PT_DYNAMIC, PF_R, at, at, sizeof(dynamic));
	builder_finish(&builder);
	builder_header(&builder)->e_shnum = 0;
	builder_header(&builder)->e_shoff = 0;
	MT_ELF_GUARD elf = open_builder();

	MT_CHECK_EQ(mt_elf_symbol_count(elf, true), 2);
	MT_REQUIRE(mt_elf_symbol(elf, true, 1, &symbol));
	MT_CHECK_STR(symbol.name, "hello");
}

MT_TEST(compressed_sections_need_the_codec)
{
	uint8_t text[1000] = "call frame information", compressed[24 + 1100];
	uLongf size = sizeof(compressed) - 24;
	Elf64_Chdr header = {
		.ch_type = ELFCOMPRESS_ZLIB, .ch_size = sizeof(text), .ch_addralign = 8};
	struct mt_span span;

	memcpy(compressed, &header, sizeof(header));
	MT_REQUIRE(compress(compressed + 24, &size, text, sizeof(text)) == Z_OK);
	builder_init(&builder, ET_DYN);
	builder_add_section(&builder, ".debug_frame", SHT_PROGBITS, 0, compressed, 24 + size)
		->sh_flags = SHF_COMPRESSED;
	builder_finish(&builder);
	{
		MT_ELF_GUARD elf = open_builder();

		MT_CHECK(!mt_elf_section(elf, ".debug_frame").bytes);
	}
	{
		MT_ELF_GUARD elf = open_builder();

		mt_elf_set_codec(elf, &mt_elf_codec_all);
		span = mt_elf_section(elf, ".debug_frame");
		MT_REQUIRE(span.bytes);
		MT_CHECK(span.size == sizeof(text) && !memcmp(span.bytes, text, sizeof(text)));
		MT_CHECK_EQ(mt_elf_section(elf, ".debug_frame").bytes, span.bytes);
	}
}

/*
 * Each of two sections may be unpacked alone; together they exceed the limit for a file of this
 * size.
 */
MT_TEST(what_is_unpacked_is_bounded_for_all_sections_of_a_file)
{
	const size_t unpacked = 3 << 20;
	MT_CLEANUP_FREE uint8_t *zeros = calloc(1, unpacked);
	static uint8_t compressed[8192];
	uLongf size = sizeof(compressed) - sizeof(Elf64_Chdr);
	Elf64_Chdr header = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = unpacked, .ch_addralign = 8};

	MT_REQUIRE(zeros);
	memcpy(compressed, &header, sizeof(header));
	MT_REQUIRE(compress(compressed + sizeof(header), &size, zeros, unpacked) == Z_OK);
	builder_init(&builder, ET_DYN);
	for (int i = 0; i < 2; i++)
		builder_add_section(&builder, i ? ".debug_info" : ".debug_line", SHT_PROGBITS, 0,
				    compressed, sizeof(header) + size)
			->sh_flags = SHF_COMPRESSED;
	builder_finish(&builder);
	MT_ELF_GUARD elf = open_builder();

	mt_elf_set_codec(elf, &mt_elf_codec_all);
	MT_CHECK_EQ(mt_elf_section(elf, ".debug_info").size, unpacked);
	MT_CHECK(!mt_elf_section(elf, ".debug_line").bytes);
	MT_CHECK_EQ(mt_elf_section(elf, ".debug_info").size, unpacked);
}

MT_TEST(any_prefix_is_survived)
{
	Elf64_Sym symbols[2] = {{0}, {.st_name = 1}};

	builder_init(&builder, ET_DYN);
	builder_add_build_id(&builder, 20);
	builder_add_segment(&builder, PT_LOAD, PF_R | PF_X, 0, 0, 0x1000);
	builder_add_symbols(&builder, true, symbols, 2, "\0hello", 7);
	builder_finish(&builder);
	for (size_t size = 0; size < builder.size; size++) {
		/* in a separate allocation, so that the sanitizer reports a read past its end */
		MT_CLEANUP_FREE uint8_t *copy = malloc(size + 1);
		MT_ELF_GUARD elf = NULL;

		memcpy(copy, builder.bytes, size);
		mt_error_destroy(mt_elf_open_memory(copy, size, "cut", &elf));
		if (!elf)
			continue;
		mt_elf_build_id(elf);
		mt_elf_section(elf, ".dynsym");
		mt_elf_symbol_count(elf, true);
	}
	MT_CHECK(true);
}

MT_TEST_MAIN
