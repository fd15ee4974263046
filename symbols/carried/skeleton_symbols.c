/*
 * Copies a few symbols from tables that may have millions: reads tables and strings in small
 * windows. Sorts symbols by address, which compresses better. Symbols at one address keep their
 * order, which may decide the name. Strings stay in the file's order.
 */
#include "symbols/carried/skeleton_parts.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "symbols/carried/skeleton.h"
#include "symbols/elf/elf_input.h"
#include "symbols/elf/elf_private.h"
#include "symbols/elf/plt.h"
#include "symbols/tables/address_sort.h"

#define LOOK ((size_t)4096)	       /* bytes of symbols in memory at a time */
#define NAMES ((size_t)16384)	       /* bytes of names in memory at a time */
#define NAME_STEP ((size_t)256)	       /* bytes of a name read at a time */
#define NAME_GAP ((size_t)4096)	       /* names up to this far apart are read together */
#define STRINGS_MAX ((size_t)64 << 20) /* bytes of names; no real file needs more */
#define RELOCATIONS ((size_t)16 << 10) /* bytes of relocations in memory at a time */

void mt_kept_symbols_deinit(struct mt_kept_symbols *kept)
{
	mt_array_deinit(&kept->relocated);
	mt_array_deinit(&kept->resolvers);
	mt_array_deinit(&kept->chosen);
}

size_t mt_skeleton_symbol_size(const struct mt_elf *elf)
{
	return elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* ---- Relocations ---- */

static size_t relocation_size(const struct mt_elf *elf, bool addends)
{
	return (elf->is_64 ? 16u : 8u) + (!addends ? 0 : elf->is_64 ? 8u : 4u);
}

/* Gives the symbol its number in the new table. False out of memory. */
static bool renumber(const struct mt_elf *elf, uint8_t *bytes, uint32_t type, uint32_t symbol,
		     struct mt_kept_symbols *kept)
{
	uint32_t number = (uint32_t)kept->relocated.count + 1;

	if (!mt_array_append(&kept->relocated, symbol))
		return false;
	if (elf->is_64)
		mt_put_le64(bytes + 8, ELF64_R_INFO((uint64_t)number, type));
	else
		mt_put_le32(bytes + 4, (uint32_t)ELF32_R_INFO(number, type));
	return true;
}

/*
 * Notes the resolver of a relocation without a symbol. Only 64-bit files have addends that readers
 * use.
 */
static bool add_resolver(const struct mt_elf *elf, const uint8_t *bytes, size_t size,
			 struct mt_kept_symbols *kept)
{
	return !elf->is_64 || size < 24 ||
	       mt_array_append(&kept->resolvers, mt_get_le64(bytes + 16));
}

/* Copies the relocation at `bytes` if it belongs to a stub. */
static bool collect_relocation(const struct mt_elf *elf, const uint8_t *bytes, size_t size,
			       struct mt_kept_symbols *kept, struct mt_made_bytes *out)
{
	uint64_t info = elf->is_64 ? mt_get_le64(bytes + 8) : mt_get_le32(bytes + 4);
	uint32_t type = (uint32_t)(elf->is_64 ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info));
	uint32_t symbol = (uint32_t)(elf->is_64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info));
	uint8_t *copy;

	if (!mt_plt_is_slot(elf->machine, type, symbol))
		return true;
	if (!mt_array_extend(out, bytes, size))
		return false;
	if (!kept)
		return true;
	copy = out->items + out->count - size;
	return symbol ? renumber(elf, copy, type, symbol, kept)
		      : add_resolver(elf, copy, size, kept);
}

bool mt_skeleton_relocations_collect(struct mt_elf *elf, size_t i, const struct mt_elf_input *input,
				     struct mt_kept_symbols *kept, struct mt_made_bytes *out)
{
	struct mt_span raw = mt_elf_raw_section(elf, i);
	size_t size = relocation_size(elf, elf->sections.items[i].type == SHT_RELA);
	size_t count = raw.bytes ? raw.size / size : 0, a_piece = RELOCATIONS / size;
	MT_CLEANUP_FREE uint8_t *room = malloc(RELOCATIONS);
	const uint8_t *piece = NULL;

	for (size_t at = 0; room && at < count; at++) {
		size_t n = count - at < a_piece ? count - at : a_piece;

		if (at % a_piece == 0)
			piece = mt_elf_input_look(input, raw, at * size, n * size, room);
		if (!collect_relocation(elf, piece + at % a_piece * size, size, kept, out))
			return false;
	}
	return room;
}

/* ---- Symbols ---- */

/* Copies the symbols that relocations name; a symbol that the table lacks stays zero. */
static bool copy_relocated(const struct mt_kept_symbols *kept, uint8_t *to)
{
	const struct mt_elf_symbol_table *raw = mt_elf_symbol_table(kept->from, kept->dynamic);
	struct mt_span span = {raw->bytes, raw->count * raw->stride, 0};
	size_t count = kept->relocated.count, each = mt_skeleton_symbol_size(kept->from), end = 0;
	MT_CLEANUP_FREE struct mt_addressed *order = calloc(count + 1, sizeof(*order));
	MT_CLEANUP_FREE uint8_t *room = malloc(LOOK + raw->stride);
	const uint8_t *bytes = NULL;
	size_t from = 0;

	for (size_t i = 0; order && i < count; i++)
		order[i] = (struct mt_addressed){kept->relocated.items[i], (uint32_t)i};
	if (!order || !room || !mt_address_sort(order, count))
		return false;
	for (size_t i = 0; i < count && order[i].address < raw->count; i++) {
		size_t at = order[i].address * raw->stride, left = span.size - at;

		if (at >= end) {
			from = at;
			end = at + (left < LOOK ? left : LOOK / raw->stride * raw->stride);
			if (end == from)
				end += raw->stride;
			bytes = mt_elf_input_look(kept->input, span, from, end - from, room);
		}
		memcpy(to + order[i].index * each, bytes + (at - from), each);
	}
	return true;
}

static uint64_t value_of(const struct mt_elf *elf, const uint8_t *symbol)
{
	return elf->is_64 ? mt_get_le64(symbol + 8) : mt_get_le32(symbol + 4);
}

/* Copies the chosen symbols in order of address. */
static bool copy_chosen(const struct mt_kept_symbols *kept, uint8_t *to)
{
	size_t each = mt_skeleton_symbol_size(kept->from), count = kept->chosen.count / each;
	MT_CLEANUP_FREE struct mt_addressed *order = calloc(count + 1, sizeof(*order));

	for (size_t i = 0; order && i < count; i++)
		order[i] = (struct mt_addressed){
			value_of(kept->from, kept->chosen.items + i * each), (uint32_t)i};
	if (!order || !mt_address_sort(order, count))
		return false;
	for (size_t i = 0; i < count; i++)
		memcpy(to + i * each, kept->chosen.items + order[i].index * each, each);
	return true;
}

/* ---- Strings ---- */

/* Symbols in the order of their names in the file, and a window on these names. */
struct naming {
	const struct mt_elf_input *input;
	struct mt_span strings; /* of the file */
	struct mt_addressed *order;
	size_t count;
	uint8_t *room; /* NAMES bytes */
	const uint8_t *bytes;
	size_t from, to; /* range of the strings at `bytes` */
};

/* Reads the i-th name from `at` on, and the following names that are close enough. */
static void look_at_names(struct naming *naming, size_t i, size_t at)
{
	size_t end = at + NAME_STEP, most = at + NAMES;

	while (++i < naming->count && naming->order[i].address < end + NAME_GAP)
		end = naming->order[i].address + NAME_STEP;
	end = end < most ? end : most;
	end = end < naming->strings.size ? end : naming->strings.size;
	naming->from = at;
	naming->to = end;
	naming->bytes =
		mt_elf_input_look(naming->input, naming->strings, at, end - at, naming->room);
}

static bool append(struct mt_made_bytes *to, const void *bytes, size_t size)
{
	return to->count + size <= STRINGS_MAX && mt_array_extend(to, bytes, size);
}

/* Appends the i-th name with its NUL. False out of memory, or if there are too many bytes. */
static bool copy_name(struct naming *naming, size_t i, struct mt_made_bytes *to)
{
	const uint8_t *bytes, *nul = NULL;

	for (size_t at = naming->order[i].address, n; !nul && at < naming->strings.size; at += n) {
		if (at < naming->from || at >= naming->to)
			look_at_names(naming, i, at);
		bytes = naming->bytes + (at - naming->from);
		n = naming->to - at;
		nul = memchr(bytes, '\0', n);
		n = nul ? (size_t)(nul - bytes) : n;
		if (!append(to, bytes, n))
			return false;
	}
	return append(to, "", 1);
}

/*
 * True if the other table has the same symbol: the same name without version, and the same fields
 * that choose between names. A symbol without a size never counts as the same, because its place in
 * the table matters as well.
 */
static bool is_known(const struct mt_kept_symbols *kept, const uint8_t *symbol, const char *name)
{
	bool wide = kept->from->is_64;
	const uint8_t *numbers = symbol + (wide ? 8 : 4); /* value and size */
	uint64_t key, ignored;

	if (wide ? !mt_get_le64(symbol + 16) : !mt_get_le32(symbol + 8))
		return false;
	key = mt_hash_bytes(name, strcspn(name, "@"), symbol[wide ? 4 : 12]);
	key = mt_hash_bytes(numbers, wide ? 16 : 8, key);
	if (kept->dynamic)
		return mt_map64_get(kept->known, key, &ignored);
	(void)mt_map64_put(kept->known, key, 1);
	return false;
}

/*
 * Copies the names of the symbols and sets their new offsets. Clears symbols that the other table
 * has, except the first `fixed` ones.
 */
static bool copy_names(const struct mt_kept_symbols *kept, struct naming *naming, uint8_t *symbols,
		       struct mt_made_bytes *to)
{
	size_t each = mt_skeleton_symbol_size(kept->from), fixed = kept->relocated.count + 1;
	uint64_t last = 0;

	for (size_t i = 0; i < naming->count; i++)
		naming->order[i] =
			(struct mt_addressed){mt_get_le32(symbols + i * each), (uint32_t)i};
	if (!mt_address_sort(naming->order, naming->count) || !append(to, "", 1))
		return false;
	for (size_t i = 0, at = 0; i < naming->count; i++) {
		const struct mt_addressed *name = &naming->order[i];
		uint8_t *symbol = symbols + name->index * each;
		size_t end = to->count;

		if (name->address != last) {
			at = end;
			if (!copy_name(naming, i, to))
				return false;
		}
		last = name->address;
		mt_put_le32(symbol, (uint32_t)at);
		if (name->index < fixed || !is_known(kept, symbol, (char *)to->items + at))
			continue;
		memset(symbol, 0, each);
		if (end == at) { /* no other symbol uses the name */
			to->count = end;
			last = 0;
		}
	}
	return true;
}

bool mt_kept_symbols_make(const struct mt_kept_symbols *kept, struct mt_made_bytes *symbols,
			  struct mt_made_bytes *strings)
{
	const struct mt_elf_symbol_table *raw = mt_elf_symbol_table(kept->from, kept->dynamic);
	size_t each = mt_skeleton_symbol_size(kept->from);
	size_t size = (kept->relocated.count + 1) * each;
	struct naming naming = {.input = kept->input,
				.strings = {(const uint8_t *)raw->names, raw->names_size, 0},
				.count = size / each + kept->chosen.count / each};
	MT_CLEANUP_FREE struct mt_addressed *order = calloc(naming.count, sizeof(*order));
	MT_CLEANUP_FREE uint8_t *room = malloc(NAMES);

	if (naming.count == 1)
		return true;
	symbols->items = calloc(naming.count, each);
	symbols->count = naming.count * each;
	naming.order = order;
	naming.room = room;
	return symbols->items && order && room && copy_relocated(kept, symbols->items + each) &&
	       copy_chosen(kept, symbols->items + size) &&
	       copy_names(kept, &naming, symbols->items, strings);
}
