/*
 * Looks up addresses with symbols/lines/lines, to compare that code with addr2line and to break it:
 *
 *	lines FILE < ADDRESSES          prints like addr2line -a -i -f, without parameters
 *	lines -t FILE < ADDRESSES       times of opening, of the first round and of a second one
 *	lines -m N FILE < ADDRESSES     the times of N copies with damaged debug sections
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/memory.h"
#include "symbols/elf/elf.h"
#include "symbols/lines/lines.h"
#include "symbols/names/demangle.h"
#include "tests/oracle/addresses.h"

static int fail(struct mt_error *err)
{
	fprintf(stderr, "lines: %s\n", err->message);
	mt_error_destroy(err);
	return 1;
}

/* Demangled names, each demangled once, as in symbols/names/symbolize. */
struct names {
	struct mt_map64 by_mangled; /* mangled name to its number */
	MT_ARRAY(const char *) mangled;
	MT_ARRAY(char *) all; /* NULL: the name is not mangled */
	MT_ARRAY(size_t) sizes;
};

/* The printed parts of a frame. */
struct line {
	const char *name, *file;
	uint32_t line;
	uint32_t mangled; /* number of the mangled name, from 1; 0: it is not mangled */
};

static void names_deinit(struct names *names)
{
	for (size_t i = 0; i < names->all.count; i++)
		free(names->all.items[i]);
	mt_array_deinit(&names->all);
	mt_array_deinit(&names->sizes);
	mt_array_deinit(&names->mangled);
	mt_map64_deinit(&names->by_mangled);
}

/* The answers to all addresses. */
struct answers {
	MT_ARRAY(struct line) frames;
	MT_ARRAY(size_t) ends; /* end of each address's frames */
	struct names names;
};

static void answers_deinit(struct answers *answers)
{
	mt_array_deinit(&answers->frames);
	mt_array_deinit(&answers->ends);
	names_deinit(&answers->names);
}

/* The number of a name that needs demangling. */
static uint32_t number_of(struct names *names, const char *mangled)
{
	const char **slot;
	uint64_t number;

	if (mt_map64_get(&names->by_mangled, (uintptr_t)mangled, &number))
		return (uint32_t)number;
	slot = mt_array_push(&names->mangled);
	number = names->mangled.count;
	if (!slot || !mt_map64_put(&names->by_mangled, (uintptr_t)mangled, number))
		abort();
	*slot = mangled;
	return (uint32_t)number;
}

/* Looks up every address. */
static void ask(struct mt_lines *lines, struct answers *out)
{
	struct mt_lines_frame frames[MT_LINES_DEPTH];

	for (size_t i = 0; i < address_count; i++) {
		size_t count = mt_lines_find(lines, addresses[i], frames), *end;

		for (size_t k = 0; k < count; k++) {
			struct line *line = mt_array_push(&out->frames);

			if (!line)
				abort();
			*line = (struct line){frames[k].name, frames[k].file, frames[k].line, 0};
			if (frames[k].mangled)
				line->mangled = number_of(&out->names, frames[k].name);
		}
		end = mt_array_push(&out->ends);
		if (!end)
			abort();
		*end = out->frames.count;
	}
}

static void demangle(struct names *names)
{
	size_t count = names->mangled.count;

	if (!mt_array_reserve(&names->all, count) || !mt_array_reserve(&names->sizes, count))
		abort();
	names->all.count = names->sizes.count = count;
	for (size_t i = 0; i < count; i++) {
		names->all.items[i] = mt_demangle(names->mangled.items[i]);
		names->sizes.items[i] = names->all.items[i] ? strlen(names->all.items[i]) : 0;
	}
}

/* Output buffer: stdio would take longer than some of the work that is measured here. */
static struct {
	char bytes[1 << 16];
	size_t size;
} output;

static void flush(void)
{
	fwrite(output.bytes, 1, output.size, stdout);
	output.size = 0;
}

static void put(const char *text, size_t size)
{
	if (size > sizeof(output.bytes) - output.size)
		flush();
	if (size > sizeof(output.bytes)) {
		fwrite(text, 1, size, stdout);
		return;
	}
	memcpy(output.bytes + output.size, text, size);
	output.size += size;
}

static void put_text(const char *text)
{
	put(text, strlen(text));
}

static void put_address(uint64_t address)
{
	char text[19] = "0x";

	for (int i = 17; i > 1; i--, address >>= 4)
		text[i] = "0123456789abcdef"[address & 15];
	text[18] = '\n';
	put(text, sizeof(text));
}

/* Prints a number and ends the line. */
static void put_number(uint32_t number)
{
	char text[16], *end = text + sizeof(text), *at = end;

	*--at = '\n';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	put(at, (size_t)(end - at));
}

static void print_frame(const struct names *names, const struct line *frame)
{
	uint32_t number = frame->mangled - 1;

	if (frame->mangled && names->all.items[number])
		put(names->all.items[number], names->sizes.items[number]);
	else
		put_text(frame->name ? frame->name : "??");
	put("\n", 1);
	put_text(frame->file ? frame->file : "??");
	put(":", 1);
	put_number(frame->line);
}

static void print(const struct answers *answers)
{
	size_t at = 0;

	for (size_t i = 0; i < address_count; i++) {
		put_address(addresses[i]);
		for (; at < answers->ends.items[i]; at++)
			print_frame(&answers->names, &answers->frames.items[at]);
	}
	flush();
}

static int run(struct mt_elf *elf, const char *path, bool timed)
{
	MT_CLEANUP(answers_deinit) struct answers answers = {0}, again = {0};
	struct mt_lines *lines = NULL;
	double start = now(), opened, first;
	struct mt_error *err = mt_lines_create(elf, elf, path, &lines);

	if (err)
		return fail(err);
	if (!lines) {
		fputs("lines: no debug information\n", stderr);
		return 1;
	}
	opened = now();
	ask(lines, &answers);
	first = now();
	if (timed) {
		ask(lines, &again);
		printf("open %.2f ms, first round %.2f ms, second %.0f ns an address, %zu frames\n",
		       (opened - start) * 1e3, (first - opened) * 1e3,
		       (now() - first) * 1e9 / (double)address_count, answers.frames.count);
		answers_deinit(&again);
	} else {
		demangle(&answers.names);
		print(&answers);
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
			MT_CLEANUP(answers_deinit) struct answers answers = {0};

			ask(lines, &answers);
			frames += answers.frames.count;
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
	long copies = 0;
	bool timed = false;
	int option, status;

	mt_memory_tune(); /* as in mtreport */
	while ((option = getopt(argc, argv, "tm:")) != -1) {
		timed |= option == 't';
		copies = option == 'm' ? atol(optarg) : copies;
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
	status = run(elf, argv[optind], timed);
	mt_elf_destroy(elf);
	return status;
}
