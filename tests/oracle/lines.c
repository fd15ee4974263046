/*
 * Asks symbols/lines about addresses, for comparison with addr2line and to break it:
 *
 *	lines FILE < ADDRESSES          prints as addr2line -a -i -f does, names without parameters
 *	lines -j N FILE < ADDRESSES     the same, read by N threads
 *	lines -t FILE < ADDRESSES       how long opening, the first round and a second one take
 *	lines -m N FILE < ADDRESSES     the same questions of N copies with damaged debug sections
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/pool.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"
#include "symbols/lines.h"
#include "tests/oracle/addresses.h"

static int fail(struct mt_error *err)
{
	fprintf(stderr, "lines: %s\n", err->message);
	mt_error_destroy(err);
	return 1;
}

/* Names that were demangled: once each, as symbols/symbolize does it. */
struct names {
	struct mt_map64 by_mangled;
	MT_ARRAY(char *) all;
};

static void names_deinit(struct names *names)
{
	for (size_t i = 0; i < names->all.count; i++)
		free(names->all.items[i]);
	mt_array_deinit(&names->all);
	mt_map64_deinit(&names->by_mangled);
}

/* What is no mangled name stays as it is. */
static const char *demangled(struct names *names, const char *mangled)
{
	uint64_t kept;
	char **slot;

	if (mt_map64_get(&names->by_mangled, (uintptr_t)mangled, &kept))
		return (const char *)(uintptr_t)kept;
	slot = mt_array_push(&names->all);
	if (!slot)
		return mangled;
	*slot = mt_demangle(mangled);
	kept = (uintptr_t)(*slot ? *slot : mangled);
	(void)mt_map64_put(&names->by_mangled, (uintptr_t)mangled, kept);
	return (const char *)(uintptr_t)kept;
}

static void print_frame(struct names *names, const struct mt_lines_frame *frame)
{
	const char *name = frame->mangled ? demangled(names, frame->name) : frame->name;

	fputs(name ? name : "??", stdout);
	putchar('\n');
	fputs(frame->file ? frame->file : "??", stdout);
	printf(":%u\n", frame->line);
}

/* Asks about every address; gives the number of frames. */
static size_t ask(struct mt_lines *lines, bool print)
{
	MT_CLEANUP(names_deinit) struct names names = {0};
	struct mt_lines_frame frames[MT_LINES_DEPTH];
	size_t all = 0;

	for (size_t i = 0; i < address_count; i++) {
		size_t count = mt_lines_find(lines, addresses[i], frames);

		all += count;
		if (print)
			printf("0x%016llx\n", (unsigned long long)addresses[i]);
		for (size_t k = 0; print && k < count; k++)
			print_frame(&names, &frames[k]);
	}
	return all;
}

/* Reads what the addresses need by several threads, as mtreport does. */
static void prepare(struct mt_lines *lines, unsigned int threads)
{
	struct mt_pool *pool = threads ? mt_pool_create(threads) : NULL;

	if (pool)
		mt_lines_prepare(lines, addresses, address_count, pool);
	mt_pool_destroy(pool);
}

static int run(struct mt_elf *elf, const char *path, bool timed, unsigned int threads)
{
	struct mt_lines *lines = NULL;
	double start = now(), opened, first;
	struct mt_error *err = mt_lines_create(elf, elf, path, &lines);
	size_t frames;

	if (err)
		return fail(err);
	if (!lines) {
		fputs("lines: no debug information\n", stderr);
		return 1;
	}
	opened = now();
	prepare(lines, threads);
	frames = ask(lines, !timed);
	first = now();
	if (timed) {
		ask(lines, false);
		printf("open %.2f ms, first round %.2f ms, second %.0f ns an address, %zu frames\n",
		       (opened - start) * 1e3, (first - opened) * 1e3,
		       (now() - first) * 1e9 / (double)address_count, frames);
	}
	if (mt_lines_problem(lines))
		fprintf(stderr, "lines: %s\n", mt_lines_problem(lines));
	mt_lines_destroy(lines);
	return 0;
}

/* Changes a few bytes of each debug section. */
static void damage(uint8_t *bytes, const struct mt_elf *elf, const uint8_t *original)
{
	struct mt_elf_section_info info;

	for (size_t i = 1; mt_elf_section_info(elf, i, &info); i++) {
		struct mt_span span = mt_elf_section((struct mt_elf *)elf, info.name);
		long hits = rand() % 4;

		if (strncmp(info.name, ".debug_", 7) != 0 || !span.bytes || !span.size)
			continue;
		while (hits--)
			bytes[(size_t)(span.bytes - original) + (size_t)rand() % span.size] =
				(uint8_t)rand();
	}
}

static int break_copies(const char *path, long copies)
{
	FILE *file = fopen(path, "rb");
	static uint8_t original[4 << 20], bytes[4 << 20];
	size_t size = file ? fread(original, 1, sizeof(original), file) : 0, frames = 0, noted = 0;
	struct mt_elf *elf, *broken;
	struct mt_error *err = mt_elf_open_memory(original, size, path, &elf);

	if (file)
		fclose(file);
	if (err)
		return fail(err);
	srand(1);
	for (long i = 0; i < copies; i++) {
		struct mt_lines *lines = NULL;

		memcpy(bytes, original, size);
		damage(bytes, elf, original);
		err = mt_elf_open_memory(bytes, size, path, &broken);
		if (err)
			return fail(err);
		err = mt_lines_create(broken, broken, NULL, &lines);
		if (err)
			mt_error_destroy(err);
		if (lines) {
			frames += ask(lines, false);
			noted += mt_lines_problem(lines) != NULL;
		}
		mt_lines_destroy(lines);
		mt_elf_destroy(broken);
	}
	mt_elf_destroy(elf);
	printf("%ld copies, damage noted in %zu, %zu frames\n", copies, noted, frames);
	return noted ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct mt_elf *elf;
	struct mt_error *err;
	unsigned int threads = 0;
	long copies = 0;
	bool timed = false;
	int option, status;

	while ((option = getopt(argc, argv, "tm:j:")) != -1) {
		timed |= option == 't';
		copies = option == 'm' ? atol(optarg) : copies;
		threads = option == 'j' ? (unsigned int)atoi(optarg) : threads;
	}
	if (optind + 1 != argc)
		return 2;
	read_addresses();
	if (copies)
		return break_copies(argv[optind], copies);
	err = mt_elf_open_file(argv[optind], &elf);
	if (err)
		return fail(err);
	mt_elf_set_codec(elf, &mt_elf_codec_all);
	status = run(elf, argv[optind], timed, threads);
	mt_elf_destroy(elf);
	return status;
}
