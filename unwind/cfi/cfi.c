/*
 * Finds the FDE of an address: first by the search table of .eh_frame_hdr, which is read in place
 * and checked against the FDE; by an index if the table is missing or wrong; last in .debug_frame.
 *
 * A miss in the search table is only trusted after one check of the whole table.
 */
#include "unwind/cfi/cfi.h"

#include <pthread.h>
#include <stdlib.h>

#include "formats/base/array.h"
#include "symbols/elf/cfi_entry.h"
#include "unwind/cfi/cfi_index.h"
#include "unwind/cfi/cfi_program.h"
#include "unwind/cfi/cfi_rules.h"

/*
 * Up to this size of .eh_frame, the check of a search table also checks completeness, which takes
 * half a millisecond, once. For a larger section only the order of the table is checked, so that
 * the first sample in the image does not wait longer.
 */
#define COMPLETE_CHECK_MAX ((size_t)128 << 10)

/*
 * Bytes of programs to expand for each byte of .eh_frame. In a valid file, the program of an FDE is
 * stored once, and the program of a CIE, which runs for each FDE, is shorter than an FDE. If a
 * damaged file needs more, further addresses are looked up one at a time.
 */
#define EXPANDED_RATIO 2

/* Cache of rules: one entry for all addresses with the same HINT_BITS bits from HINT_SHIFT on. */
#define HINT_BITS 13
#define HINT_SHIFT 8

enum table_state {
	TABLE_UNCHECKED, /* hits are used; a miss starts the check */
	TABLE_GOOD,
	TABLE_UNUSABLE, /* missing, unsupported or wrong: the index is used instead */
};

/* The sorted pairs (address, FDE) of .eh_frame_hdr, both relative to its start: 8 bytes each. */
struct table {
	const uint8_t *pairs;
	size_t count;
	uint64_t base;
};

/* Rules that were read through the search table. */
struct kept {
	struct mt_cfi_rules *hints[1 << HINT_BITS]; /* atomic */
	struct mt_cfi_rules *all;		    /* under the lock */
	size_t left; /* bytes of programs that may still be expanded, under the lock */
	struct mt_cfi_rules *of_entries[]; /* by index of the pair, atomic */
};

struct mt_cfi {
	struct mt_cfi_section debug_frame;
	struct table table;
	int state;				     /* enum table_state, atomic */
	pthread_mutex_t lock;			     /* held to create the indexes and `kept` */
	struct mt_cfi_index *eh_index, *debug_index; /* atomic */
	struct kept *kept;			     /* atomic; changes do not affect results */
	size_t count;				     /* number of eh_frames */
	struct mt_cfi_section eh_frames[]; /* the table, if there is one, is of the first section */
};

/* An FDE and its section. */
struct found {
	const struct mt_cfi_section *section;
	struct mt_cfi_fde fde;
};

/*
 * Reads the head of .eh_frame_hdr. Linkers only write one form: pairs of 4-byte numbers relative to
 * the section. The table is empty for any other form.
 */
static struct table table_init(const struct mt_span *hdr)
{
	struct mt_cfi_section section = {.span = *hdr, .data_base = hdr->vaddr};
	struct mt_cursor c = mt_cursor_init(hdr->bytes, hdr->size);
	uint8_t version = mt_cursor_u8(&c), frame = mt_cursor_u8(&c), count = mt_cursor_u8(&c),
		form = mt_cursor_u8(&c);
	uint64_t frame_address, pairs;

	if (c.bad || version != 1 || form != (MT_CFI_PE_DATAREL | MT_CFI_PE_SDATA4) ||
	    !mt_cfi_pointer_read(&c, frame, &section, 0, &frame_address) ||
	    !mt_cfi_pointer_read(&c, count, &section, 0, &pairs) || pairs > mt_cursor_left(&c) / 8)
		return (struct table){0};
	return (struct table){.pairs = c.pos, .count = pairs, .base = hdr->vaddr};
}

static uint64_t table_address(const struct table *table, size_t i)
{
	return table->base + (uint64_t)(int64_t)(int32_t)mt_get_le32(table->pairs + i * 8);
}

static uint64_t table_fde(const struct table *table, size_t i)
{
	return table->base + (uint64_t)(int64_t)(int32_t)mt_get_le32(table->pairs + i * 8 + 4);
}

/* Allocates a struct with room for `pieces` pieces of .eh_frame, and sets the first. */
static struct mt_cfi *create(const struct mt_cfi_sections *sections, size_t pieces)
{
	struct mt_cfi *cfi = calloc(1, sizeof(*cfi) + pieces * sizeof(*cfi->eh_frames));

	if (!cfi)
		return NULL;
	cfi->count = 1;
	cfi->eh_frames[0] = (struct mt_cfi_section){.span = sections->eh_frame,
						    .data_base = sections->eh_frame_hdr.vaddr};
	cfi->debug_frame =
		(struct mt_cfi_section){.span = sections->debug_frame, .debug_frame = true};
	if (sections->eh_frame_hdr.bytes)
		cfi->table = table_init(&sections->eh_frame_hdr);
	cfi->state = cfi->table.count ? TABLE_UNCHECKED : TABLE_UNUSABLE;
	pthread_mutex_init(&cfi->lock, NULL);
	return cfi;
}

struct mt_cfi *mt_cfi_create(const struct mt_cfi_sections *sections)
{
	return create(sections, 1);
}

struct mt_cfi *mt_cfi_of_elf(struct mt_elf *elf)
{
	const struct mt_cfi_sections sections = {
		.eh_frame_hdr = mt_elf_section(elf, ".eh_frame_hdr"),
		.eh_frame = mt_elf_section_in(elf, 0, ".eh_frame"),
		.debug_frame = mt_elf_section(elf, ".debug_frame"),
	};
	size_t pieces = mt_elf_pieces(elf);
	struct mt_cfi *cfi = create(&sections, pieces);

	for (; cfi && cfi->count < pieces; cfi->count++)
		cfi->eh_frames[cfi->count] = (struct mt_cfi_section){
			.span = mt_elf_section_in(elf, cfi->count, ".eh_frame")};
	return cfi;
}

static void kept_destroy(struct kept *kept)
{
	if (!kept)
		return;
	for (struct mt_cfi_rules *rules = kept->all, *next; rules; rules = next) {
		next = rules->next;
		free(rules);
	}
	free(kept);
}

void mt_cfi_destroy(struct mt_cfi *cfi)
{
	if (!cfi)
		return;
	kept_destroy(cfi->kept);
	mt_cfi_index_destroy(cfi->eh_index);
	mt_cfi_index_destroy(cfi->debug_index);
	pthread_mutex_destroy(&cfi->lock);
	free(cfi);
}

/* The index at *slot, built on first use; NULL out of memory. */
static struct mt_cfi_index *index_get(struct mt_cfi *cfi, const struct mt_cfi_section *sections,
				      size_t count, struct mt_cfi_index **slot)
{
	struct mt_cfi_index *index = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

	if (index)
		return index;
	pthread_mutex_lock(&cfi->lock);
	index = *slot;
	if (!index) {
		index = mt_cfi_index_create(sections, count);
		__atomic_store_n(slot, index, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&cfi->lock);
	return index;
}

static enum mt_cfi_found find_by_index(struct mt_cfi *cfi, bool debug, uint64_t address,
				       struct found *out)
{
	struct mt_cfi_index *index =
		debug ? index_get(cfi, &cfi->debug_frame, 1, &cfi->debug_index)
		      : index_get(cfi, cfi->eh_frames, cfi->count, &cfi->eh_index);
	size_t offset = 0;

	out->section = index ? mt_cfi_index_find(index, address, &offset) : NULL;
	if (!out->section)
		return MT_CFI_NONE;
	return mt_cfi_fde_read(out->section, offset, &out->fde) ? MT_CFI_FOUND : MT_CFI_BROKEN;
}

/* Number of pairs whose address is not above `address`. */
static size_t table_below(const struct table *table, uint64_t address)
{
	return mt_array_split(table->count, at, table_address(table, at) <= address);
}

static bool table_fde_read(const struct mt_cfi *cfi, size_t i, struct mt_cfi_fde *fde)
{
	uint64_t offset = table_fde(&cfi->table, i) - cfi->eh_frames[0].span.vaddr;

	return mt_cfi_fde_read(&cfi->eh_frames[0], offset, fde);
}

/* BROKEN if the table's entry does not lead to an FDE with the address in the entry. */
static enum mt_cfi_found find_by_table(const struct mt_cfi *cfi, uint64_t address,
				       struct mt_cfi_fde *fde)
{
	const struct table *table = &cfi->table;
	size_t below = table_below(table, address);

	if (!below)
		return MT_CFI_NONE;
	if (!table_fde_read(cfi, below - 1, fde))
		return MT_CFI_BROKEN;
	if (address >= fde->start && address < fde->end)
		return MT_CFI_FOUND;
	return fde->start == table_address(table, below - 1) ? MT_CFI_NONE : MT_CFI_BROKEN;
}

static bool table_sorted(const struct table *table)
{
	for (size_t i = 1; i < table->count; i++) {
		if (table_address(table, i - 1) > table_address(table, i))
			return false;
	}
	return true;
}

/*
 * Checks the table: a good table is sorted and, if the check is cheap, has an entry for every FDE.
 */
static enum table_state table_check(struct mt_cfi *cfi)
{
	struct mt_cfi_index *index;
	bool good = table_sorted(&cfi->table);

	if (good && cfi->eh_frames[0].span.size <= COMPLETE_CHECK_MAX) {
		index = index_get(cfi, cfi->eh_frames, cfi->count, &cfi->eh_index);
		good = index && mt_cfi_index_count(index) <= cfi->table.count;
	}
	return good ? TABLE_GOOD : TABLE_UNUSABLE;
}

static enum table_state table_state(struct mt_cfi *cfi)
{
	int state = __atomic_load_n(&cfi->state, __ATOMIC_ACQUIRE);

	if (state == TABLE_UNCHECKED) {
		state = table_check(cfi);
		__atomic_store_n(&cfi->state, state, __ATOMIC_RELEASE);
	}
	return state;
}

/*
 * The result of the table is used if it is an FDE that covers the address, or if a good table has
 * no such FDE. Otherwise the index decides.
 */
static enum mt_cfi_found find_eh_frame(struct mt_cfi *cfi, uint64_t address, struct found *out)
{
	enum mt_cfi_found found;

	if (__atomic_load_n(&cfi->state, __ATOMIC_ACQUIRE) != TABLE_UNUSABLE) {
		out->section = &cfi->eh_frames[0];
		found = find_by_table(cfi, address, &out->fde);
		if (found == MT_CFI_FOUND ||
		    (found == MT_CFI_NONE && table_state(cfi) == TABLE_GOOD))
			return found;
	}
	return find_by_index(cfi, false, address, out);
}

/* ---- Cached rules ---- */

/* The cache, created on first use; NULL without a usable table, or out of memory. */
static struct kept *kept_get(struct mt_cfi *cfi)
{
	struct kept *kept = __atomic_load_n(&cfi->kept, __ATOMIC_ACQUIRE);

	if (kept || __atomic_load_n(&cfi->state, __ATOMIC_ACQUIRE) == TABLE_UNUSABLE)
		return kept;
	pthread_mutex_lock(&cfi->lock);
	kept = cfi->kept;
	if (!kept) {
		kept = calloc(1, sizeof(*kept) + cfi->table.count * sizeof(*kept->of_entries));
		if (kept)
			kept->left = cfi->eh_frames[0].span.size * EXPANDED_RATIO;
		__atomic_store_n(&cfi->kept, kept, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&cfi->lock);
	return kept;
}

/*
 * Builds the rules of a table entry on first use. NULL out of memory, if the entry does not lead to
 * an FDE, and if the section's budget for expanded programs is used up.
 */
static struct mt_cfi_rules *rules_make(struct mt_cfi *cfi, struct kept *kept, size_t i)
{
	struct mt_cfi_rules *rules;
	struct mt_cfi_fde fde;
	size_t programs;

	if (!table_fde_read(cfi, i, &fde) || fde.start >= fde.end)
		return NULL;
	programs = mt_cursor_left(&fde.program) + mt_cursor_left(&fde.cie.program);
	pthread_mutex_lock(&cfi->lock);
	rules = kept->of_entries[i];
	if (!rules && programs <= kept->left) {
		kept->left -= programs;
		rules = mt_cfi_rules_make(&cfi->eh_frames[0], &fde);
		if (rules) {
			rules->next = kept->all;
			kept->all = rules;
		}
		__atomic_store_n(&kept->of_entries[i], rules, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&cfi->lock);
	return rules;
}

static bool covers(const struct mt_cfi_rules *rules, uint64_t address)
{
	return rules && address >= rules->start && address < rules->end;
}

/* Implements mt_cfi_rules_at(); without `make` it only returns rules that exist already. */
static const struct mt_cfi_rules *rules_at(struct mt_cfi *cfi, uint64_t address, bool make)
{
	struct kept *kept = kept_get(cfi);
	struct mt_cfi_rules *rules, **hint;
	size_t below;

	if (!kept || __atomic_load_n(&cfi->state, __ATOMIC_ACQUIRE) == TABLE_UNUSABLE)
		return NULL;
	hint = &kept->hints[address >> HINT_SHIFT & ((1 << HINT_BITS) - 1)];
	rules = __atomic_load_n(hint, __ATOMIC_ACQUIRE);
	if (covers(rules, address))
		return rules;
	below = table_below(&cfi->table, address);
	if (!below)
		return NULL;
	rules = __atomic_load_n(&kept->of_entries[below - 1], __ATOMIC_ACQUIRE);
	if (!rules && make)
		rules = rules_make(cfi, kept, below - 1);
	if (!covers(rules, address))
		return NULL;
	__atomic_store_n(hint, rules, __ATOMIC_RELEASE);
	return rules;
}

const struct mt_cfi_rules *mt_cfi_rules_at(struct mt_cfi *cfi, uint64_t address)
{
	return rules_at(cfi, address, true);
}

/* ---- Answers ---- */

static enum mt_cfi_found run(const struct found *found, uint64_t address, struct mt_cfi_row *row)
{
	struct mt_cfi_row made;

	if (found->fde.cie.return_register != MT_DWARF_RIP ||
	    !mt_cfi_program_run(found->section, &found->fde, address, &made))
		return MT_CFI_BROKEN;
	*row = made;
	return MT_CFI_FOUND;
}

enum mt_cfi_found mt_cfi_find(struct mt_cfi *cfi, uint64_t address, struct mt_cfi_row *row)
{
	struct found found;
	enum mt_cfi_found in_eh_frame = find_eh_frame(cfi, address, &found);

	if (in_eh_frame == MT_CFI_FOUND ||
	    find_by_index(cfi, true, address, &found) == MT_CFI_FOUND)
		return run(&found, address, row);
	return in_eh_frame;
}

bool mt_cfi_range(struct mt_cfi *cfi, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct mt_cfi_rules *rules = rules_at(cfi, address, false);
	struct found found;

	if (rules) {
		*start = rules->start;
		*end = rules->end;
		return true;
	}
	if (find_eh_frame(cfi, address, &found) != MT_CFI_FOUND &&
	    find_by_index(cfi, true, address, &found) != MT_CFI_FOUND)
		return false;
	*start = found.fde.start;
	*end = found.fde.end;
	return true;
}
