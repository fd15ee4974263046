/*
 * symbols/elf/elf_pieces: an image opened from two skeletons, each with half of the functions, has
 * all of the functions. Damaged skeletons give a usable image or an error.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "symbols/carried/skeleton.h"
#include "symbols/elf/cfi_entry.h"
#include "symbols/elf/elf.h"
#include "symbols/names/symtab.h"
#include "tests/unit/same_code.h"
#include "tests/unit/unit.h"
#include "unwind/cfi/cfi.h"

MT_DEFINE_CLEANUP(mt_symtab, struct mt_symtab)

static const struct mt_skeleton_wish everything = {.names = true, .unwind = true};

/* A skeleton of this program; the caller frees its bytes. */
static struct mt_span whole_of(const struct mt_skeleton_wish *wish)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;

	MT_CHECK(!mt_elf_open_file("/proc/self/exe", &elf));
	MT_CHECK(!mt_skeleton_make(elf, NULL, wish, &bytes, &size));
	return (struct mt_span){.bytes = bytes, .size = size};
}

static struct mt_elf *open_skeleton(struct mt_span bytes)
{
	struct mt_elf *elf = NULL;

	MT_CHECK(!mt_elf_open_skeleton(bytes.bytes, bytes.size, "skeleton", &elf));
	return elf;
}

static struct mt_elf *open_pieces(const struct mt_span *parts, size_t count)
{
	struct mt_elf *elf = NULL;

	MT_CHECK(!mt_elf_open_pieces(parts, count, "pieces", &elf));
	return elf;
}

/* ---- Leaving out ---- */

/* The part of a function, one of `of` parts. */
static unsigned int part_of(uint64_t address, unsigned int of)
{
	return (unsigned int)(mt_hash64(address) % of);
}

static Elf64_Shdr *section(uint8_t *bytes, struct mt_elf *elf, const char *name)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	size_t i = mt_elf_find_section(elf, name);

	return i ? (Elf64_Shdr *)(bytes + header->e_shoff) + i : NULL;
}

static void put_filler(uint8_t *at, size_t size)
{
	static const uint8_t filler[] = {1, 0, 1, 0x78, 16};

	if (!size)
		return;
	memset(at, 0, size);
	mt_put_le32(at, (uint32_t)(size - 4));
	memcpy(at + 8, filler, sizeof(filler));
}

static void prune_frames(uint8_t *bytes, struct mt_elf *elf, unsigned int part, unsigned int of)
{
	struct mt_span span = mt_elf_section(elf, ".eh_frame");
	MT_CLEANUP_FREE uint8_t *copy = malloc(span.size);
	struct mt_cfi_section frames = {.span = {copy, span.size, span.vaddr}};
	uint8_t *to = bytes + (span.bytes - bytes);
	struct mt_cfi_entry entry;
	struct mt_cfi_fde fde;
	size_t at, gap = 0;

	MT_REQUIRE(copy && span.bytes);
	memcpy(copy, span.bytes, span.size);
	for (at = 0; mt_cfi_entry_read(&frames, at, &entry); at = entry.next) {
		if (!entry.terminator && !entry.cie && mt_cfi_fde_read(&frames, at, &fde) &&
		    part_of(fde.start, of) != part)
			continue;
		put_filler(to + gap, at - gap);
		gap = entry.next;
	}
	put_filler(to + gap, at - gap);
}

/* One more than the highest symbol index in relocations: symbols below it must stay. */
static size_t named_by_relocations(struct mt_elf *elf)
{
	static const char *const names[] = {".rela.plt", ".rela.dyn"};
	size_t most = 1;

	for (size_t k = 0; k < 2; k++) {
		struct mt_span span = mt_elf_section(elf, names[k]);

		for (size_t i = 0; span.bytes && i < span.size / sizeof(Elf64_Rela); i++) {
			Elf64_Rela one;

			memcpy(&one, span.bytes + i * sizeof(one), sizeof(one));
			if (ELF64_R_SYM(one.r_info) >= most)
				most = ELF64_R_SYM(one.r_info) + 1;
		}
	}
	return most;
}

static void prune_symbols(uint8_t *bytes, Elf64_Shdr *table, size_t from, unsigned int part,
			  unsigned int of)
{
	Elf64_Sym *symbols;
	size_t kept = from;

	if (!table)
		return;
	symbols = (Elf64_Sym *)(bytes + table->sh_offset);
	for (size_t i = from; i < table->sh_size / sizeof(*symbols); i++) {
		if (part_of(symbols[i].st_value, of) == part)
			symbols[kept++] = symbols[i];
	}
	table->sh_size = kept * sizeof(*symbols);
}

/* A copy with one part of the functions; the caller frees it. */
static struct mt_span pruned(struct mt_span whole, unsigned int part, unsigned int of)
{
	uint8_t *bytes = malloc(whole.size);
	struct mt_span copy = {.bytes = bytes, .size = whole.size};
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;

	if (!MT_CHECK(bytes))
		return (struct mt_span){0};
	memcpy(bytes, whole.bytes, whole.size);
	elf = open_skeleton(copy);
	prune_frames(bytes, elf, part, of);
	prune_symbols(bytes, section(bytes, elf, ".symtab"), 1, part, of);
	prune_symbols(bytes, section(bytes, elf, ".dynsym"), named_by_relocations(elf), part, of);
	return copy;
}

/* ---- Comparing ---- */

/* Compares every STEP-th address of the code; returns the number of differences. */
static size_t differences(struct mt_elf *a, struct mt_elf *b, uint64_t step)
{
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *names_a = mt_symtab_create(a, a);
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *names_b = mt_symtab_create(b, b);
	MT_CLEANUP(mt_cfi_destroy_p)
	struct mt_cfi *cfi_a = mt_cfi_of_elf(a), *cfi_b = mt_cfi_of_elf(b);
	size_t count, differ = 0, asked = 0;
	const struct mt_segment *segments = mt_elf_segments(a, &count);

	for (size_t i = 0; i < count; i++) {
		const struct mt_segment *s = &segments[i];

		for (uint64_t at = 0; s->flags & PF_X && at < s->file_size; at += step, asked++)
			differ += !same_name(names_a, names_b, s->vaddr + at) ||
				  !same_row(cfi_a, cfi_b, s->vaddr + at);
	}
	MT_CHECK(asked > 1000);
	return differ;
}

static size_t differences_of(struct mt_span whole, const struct mt_span *parts, size_t count)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *a = open_skeleton(whole);
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *b = open_pieces(parts, count);

	return a && b ? differences(a, b, 5) : SIZE_MAX;
}

static void free_parts(struct mt_span *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((void *)parts[i].bytes);
}

/* ---- What is required ---- */

MT_TEST(two_halves_are_the_whole_in_any_order)
{
	struct mt_span whole = whole_of(&everything);
	struct mt_span parts[] = {pruned(whole, 0, 2), pruned(whole, 1, 2)};
	struct mt_span other[] = {parts[1], parts[0]};

	MT_CHECK(differences_of(whole, parts, 1) > 100);
	MT_CHECK(differences_of(whole, other, 1) > 100);
	MT_CHECK_EQ(differences_of(whole, parts, 2), 0);
	MT_CHECK_EQ(differences_of(whole, other, 2), 0);
	free_parts(parts, 2);
	free((void *)whole.bytes);
}

MT_TEST(many_parts_are_the_whole)
{
	enum {
		COUNT = 40
	};
	struct mt_span whole = whole_of(&everything), parts[COUNT];

	for (unsigned int i = 0; i < COUNT; i++)
		parts[i] = pruned(whole, i, COUNT);
	MT_CHECK_EQ(differences_of(whole, parts, COUNT), 0);
	free_parts(parts, COUNT);
	free((void *)whole.bytes);
}

MT_TEST(what_is_there_twice_counts_once)
{
	struct mt_span whole = whole_of(&everything), half = pruned(whole, 0, 2);
	struct mt_span parts[] = {half, whole, half};

	MT_CHECK_EQ(differences_of(whole, parts, 3), 0);
	free((void *)half.bytes);
	free((void *)whole.bytes);
}

MT_TEST(what_one_part_lacks_another_has)
{
	static const struct mt_skeleton_wish names = {.names = true}, unwind = {.unwind = true};
	struct mt_span whole = whole_of(&everything);
	struct mt_span parts[] = {whole_of(&names), whole_of(&unwind)};
	struct mt_span other[] = {parts[1], parts[0]};

	MT_CHECK(differences_of(whole, parts, 1) > 100);
	MT_CHECK_EQ(differences_of(whole, parts, 2), 0);
	MT_CHECK_EQ(differences_of(whole, other, 2), 0);
	free_parts(parts, 2);
	free((void *)whole.bytes);
}

MT_TEST(one_part_is_itself)
{
	struct mt_span whole = whole_of(&everything), nothing = {0};
	struct mt_span parts[] = {nothing, whole};

	MT_CHECK_EQ(differences_of(whole, parts, 2), 0);
	free((void *)whole.bytes);
}

MT_TEST(what_is_of_another_image_or_none_is_left_out)
{
	struct mt_span whole = whole_of(&everything), other = pruned(whole, 1, 2);
	static const uint8_t text[] = "no ELF file";
	struct mt_span parts[] = {
		{.bytes = text, .size = sizeof(text)}, pruned(whole, 0, 2), other};
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_error *err;

	((Elf64_Ehdr *)other.bytes)->e_machine = EM_386;
	MT_CHECK_EQ(differences_of(parts[1], parts, 3), 0);
	err = mt_elf_open_pieces(parts, 1, "pieces", &elf);
	MT_CHECK(err && !elf);
	mt_error_destroy(err);
	free_parts(parts + 1, 2);
	free((void *)whole.bytes);
}

/* ---- Damage ---- */

static uint32_t random_of(uint32_t *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 8;
}

/* Damages a random place, in the whole file or in one of the headers. */
static void damage(uint8_t *bytes, size_t size, uint32_t *state)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
	size_t sections = header->e_shoff < size ? header->e_shoff : 0, at = 0;

	switch (random_of(state) % 3) {
	case 0:
		at = random_of(state) % size;
		break;
	case 1:
		at = sections + random_of(state) % (size - sections);
		break;
	case 2:
		at = random_of(state) % 1024;
		break;
	}
	bytes[at] = (uint8_t)random_of(state);
	if (at + 8 < size && random_of(state) % 2)
		memcpy(bytes + at, bytes + random_of(state) % (size - 8), 8);
}

static void use(struct mt_elf *elf)
{
	MT_CLEANUP(mt_symtab_destroy_p) struct mt_symtab *names = mt_symtab_create(elf, elf);
	MT_CLEANUP(mt_cfi_destroy_p) struct mt_cfi *cfi = mt_cfi_of_elf(elf);
	struct mt_cfi_row row;
	uint64_t start;

	for (uint64_t at = 0x1000; at < 0x100000 && names && cfi; at += 0x1111) {
		(void)mt_symtab_find(names, at, &start);
		(void)mt_cfi_find(cfi, at, &row);
		(void)mt_elf_bytes_at(elf, at, 8);
	}
}

MT_TEST(damaged_parts_do_no_harm)
{
	struct mt_span whole = whole_of(&everything);
	struct mt_span good[] = {pruned(whole, 0, 2), pruned(whole, 1, 2)};
	size_t size = good[0].size, kept = 0;
	uint32_t state = 1;

	for (int round = 0; round < 120; round++) {
		uint8_t *copies[2] = {malloc(size), malloc(size)};
		struct mt_elf *elf = NULL;
		struct mt_span parts[2];
		struct mt_error *err;

		MT_REQUIRE(copies[0] && copies[1]);
		for (int i = 0; i < 2; i++) {
			memcpy(copies[i], good[i].bytes, size);
			for (int n = round % 3; n < 3 && (round + i) % 2; n++)
				damage(copies[i], size, &state);
			parts[i] = (struct mt_span){.bytes = copies[i], .size = size};
		}
		err = mt_elf_open_pieces(parts, 2, "pieces", &elf);
		if (!err)
			use(elf);
		kept += !err;
		mt_error_destroy(err);
		mt_elf_destroy(elf);
		free(copies[0]);
		free(copies[1]);
	}
	MT_CHECK(kept > 60);
	free_parts(good, 2);
	free((void *)whole.bytes);
}

MT_TEST_MAIN
