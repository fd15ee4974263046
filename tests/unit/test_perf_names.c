/*
 * Compares our names with those of perf: a perf.data made here, with a mapping and samples at
 * chosen addresses, is read by `perf script`. PLT stubs are left out: perf counts them instead of
 * reading them, and is wrong if the linker put IFUNCs in between. A weak name that we prefer to a
 * local one is no difference. Skipped without perf.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "symbols/images/image.h"
#include "symbols/names/symbolize.h"
#include "tests/unit/unit.h"

MT_DEFINE_CLEANUP(mt_image_set, struct mt_image_set)
MT_DEFINE_CLEANUP(mt_symbolizer, struct mt_symbolizer)

#define BASE UINT64_C(0x7f0000000000)
#define SAMPLES 2000
#define HEADER_SIZE 104
#define ATTR_SIZE 128

/* The mapping of the image, and the range of .text to look up. */
struct question {
	char path[4096];
	uint64_t map_offset, map_size;	 /* of the executable segment, in whole pages */
	uint64_t text_offset, text_size; /* in the file */
};

static void put(FILE *f, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	mt_put_le64(bytes, value);
	fwrite(bytes, size, 1, f);
}

static void put_record_header(FILE *f, uint32_t type, size_t size)
{
	put(f, type, 4);
	put(f, 2, 2); /* PERF_RECORD_MISC_USER */
	put(f, size, 2);
}

/* A file offset per sample, spread over .text. */
static uint64_t offset_of_sample(const struct question *q, unsigned int i)
{
	return q->text_offset + i * (q->text_size / SAMPLES) + i % 7;
}

static void put_records(FILE *f, const struct question *q)
{
	size_t name_size = mt_align8(strlen(q->path) + 1);
	char name[4104] = "";

	put_record_header(f, 3, 24); /* COMM */
	put(f, 100, 4);
	put(f, 100, 4);
	fwrite("test\0\0\0\0", 8, 1, f);
	put_record_header(f, 1, 40 + name_size); /* MMAP */
	put(f, 100, 4);
	put(f, 100, 4);
	put(f, BASE, 8);
	put(f, q->map_size, 8);
	put(f, q->map_offset, 8);
	snprintf(name, sizeof(name), "%s", q->path);
	fwrite(name, name_size, 1, f);
	for (unsigned int i = 0; i < SAMPLES; i++) {
		put_record_header(f, 9, 24); /* SAMPLE: ip, pid, tid */
		put(f, BASE + offset_of_sample(q, i) - q->map_offset, 8);
		put(f, 100, 4);
		put(f, 100, 4);
	}
}

static void put_header(FILE *f, uint64_t data_size)
{
	fwrite("PERFILE2", 8, 1, f);
	put(f, HEADER_SIZE, 8);
	put(f, ATTR_SIZE + 16, 8);
	put(f, HEADER_SIZE, 8); /* attrs */
	put(f, ATTR_SIZE + 16, 8);
	put(f, HEADER_SIZE + ATTR_SIZE + 16, 8); /* data */
	put(f, data_size, 8);
	for (int i = 0; i < 6; i++)
		put(f, 0, 8); /* event types and features: none */
	put(f, 1, 4);	      /* PERF_TYPE_SOFTWARE */
	put(f, ATTR_SIZE, 4);
	put(f, 0, 8);
	put(f, 1, 8);
	put(f, 3, 8); /* PERF_SAMPLE_IP | TID */
	put(f, 0, 8);
	put(f, 1 << 8, 8); /* mmap */
	for (int i = 0; i < (ATTR_SIZE - 48 + 16) / 8; i++)
		put(f, 0, 8);
}

static bool make_perf_data(const char *path, const struct question *q)
{
	MT_CLEANUP_FCLOSE FILE *f = fopen(path, "w");
	long end;

	if (!f)
		return false;
	put_header(f, 0);
	put_records(f, q);
	end = ftell(f);
	rewind(f);
	put_header(f, (uint64_t)end - HEADER_SIZE - ATTR_SIZE - 16);
	return !ferror(f);
}

static bool find_text(struct mt_elf *elf, struct question *q)
{
	struct mt_elf_section_info info;
	size_t segments;
	const struct mt_segment *s = mt_elf_segments(elf, &segments);

	if (!mt_elf_section_info(elf, mt_elf_find_section(elf, ".text"), &info))
		return false;
	for (size_t i = 0; i < segments; i++) {
		if (info.vaddr < s[i].vaddr || info.vaddr - s[i].vaddr >= s[i].file_size)
			continue;
		q->text_offset = info.vaddr - s[i].vaddr + s[i].offset;
		q->text_size = info.size;
		q->map_offset = s[i].offset & ~UINT64_C(4095);
		q->map_size =
			(s[i].offset + s[i].file_size + 4095 - q->map_offset) & ~UINT64_C(4095);
		return true;
	}
	return false;
}

/* Changes perf's line to our form: without version, and without offset if there is no name. */
static void as_ours(char *name)
{
	char *at = strchr(name, '@'), *offset = strrchr(name, '+');

	name[strcspn(name, "\n")] = '\0';
	if (at && at != name && offset > at)
		memmove(at, offset, strlen(offset) + 1);
}

/*
 * The binding of the symbol with the first `length` bytes of the name; STB_LOCAL if there is none.
 */
static uint8_t binding_of(struct mt_elf *elf, const char *name, size_t length)
{
	struct mt_elf_symbol symbol;
	size_t count = mt_elf_symbol_count(elf, false);

	for (size_t i = 0; i < count; i++) {
		if (mt_elf_symbol(elf, false, i, &symbol) && symbol.binding != STB_LOCAL &&
		    symbol.section != SHN_UNDEF && !strncmp(symbol.name, name, length) &&
		    (!symbol.name[length] || symbol.name[length] == '@'))
			return symbol.binding;
	}
	return STB_LOCAL;
}

/* Whether perf chose the local one of a weak and a local name at the same address. */
static bool weak_not_local(struct mt_elf *elf, const char *perf, const char *ours)
{
	const char *offset = strrchr(perf, '+'), *own = strrchr(ours, '+');

	return offset && own && !strcmp(offset, own) &&
	       binding_of(elf, perf, (size_t)(offset - perf)) == STB_LOCAL &&
	       binding_of(elf, ours, (size_t)(own - ours)) == STB_WEAK;
}

static void compare(FILE *perf, struct mt_symbolizer *symbolizer, struct mt_image *image,
		    const struct question *q)
{
	char line[65536], ours[65536];
	unsigned int differ = 0, i = 0;

	for (; i < SAMPLES && fgets(line, sizeof(line), perf); i++) {
		char *p = line, *name;
		const struct mt_symbol *symbol =
			mt_symbolize(symbolizer, image, offset_of_sample(q, i));

		strtoull(line, &p, 16);
		name = p + strspn(p, " ");
		as_ours(name);
		snprintf(ours, sizeof(ours), symbol->resolved ? "%s+0x%llx" : "[unknown]",
			 symbol->name, (unsigned long long)symbol->offset);
		if (strcmp(name, ours) != 0 &&
		    !weak_not_local(mt_image_symbols_elf(image), name, ours) && differ++ < 5)
			printf("# %s at %#llx: perf %s, here %s\n", q->path,
			       (unsigned long long)offset_of_sample(q, i), name, ours);
	}
	MT_CHECK_EQ(i, SAMPLES);
	/* perf picks one of many labels in assembly files by chance */
	MT_CHECK(differ <= SAMPLES / 1000);
}

static bool have_perf(void)
{
	return !system("perf version >/dev/null 2>&1");
}

static void names_of(const char *path)
{
	char data[] = "/tmp/test_perf_names.XXXXXX", command[256];
	MT_CLEANUP(mt_image_set_destroy_p) struct mt_image_set *set = mt_image_set_create();
	MT_CLEANUP(mt_symbolizer_destroy_p)
	struct mt_symbolizer *symbolizer =
		mt_symbolizer_create(&(struct mt_symbolizer_options){.demangle = true});
	struct question q = {0};
	struct mt_image *image;
	FILE *perf;
	int fd;

	mt_image_set_add_source(set, &mt_image_source_local, NULL);
	mt_image_set_add_source(set, &mt_image_source_build_id, NULL);
	snprintf(q.path, sizeof(q.path), "%s", path);
	image = mt_image_set_intern(set, &(struct mt_image_identity){.path = q.path});
	MT_REQUIRE(mt_image_elf(image) && find_text(mt_image_elf(image), &q));
	fd = mkstemp(data);
	MT_REQUIRE(fd >= 0 && make_perf_data(data, &q));
	close(fd);
	snprintf(command, sizeof(command),
		 "perf script -i %s -F ip,sym,symoff --no-inline 2>/dev/null", data);
	perf = popen(command, "r");
	MT_REQUIRE(perf);
	compare(perf, symbolizer, image, &q);
	pclose(perf);
	unlink(data);
}

/* The path of a file mapped here whose name contains `part`. */
static bool mapped_path(const char *part, char *out, size_t size)
{
	MT_CLEANUP_FCLOSE FILE *maps = fopen("/proc/self/maps", "re");
	char line[4400];

	while (maps && fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');

		if (path && strstr(path, part)) {
			snprintf(out, size, "%.*s", (int)strcspn(path, "\n"), path);
			return true;
		}
	}
	return false;
}

MT_TEST(names_in_libc_are_perf_s)
{
	char path[4096];

	if (!have_perf())
		MT_SKIP("perf is not installed");
	if (!mapped_path("libc.so", path, sizeof(path)))
		MT_SKIP("no shared libc here");
	names_of(path);
}

MT_TEST(names_in_libstdcxx_are_perf_s)
{
	static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
					    "/usr/lib64/libstdc++.so.6"};
	char path[4096];

	if (!have_perf())
		MT_SKIP("perf is not installed");
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (realpath(paths[i], path)) {
			names_of(path);
			return;
		}
	}
	MT_SKIP("no libstdc++ here");
}

MT_TEST_MAIN
