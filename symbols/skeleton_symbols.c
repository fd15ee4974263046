/*
 * Symbols and relocations for a skeleton. Symbols are sorted by address, which makes neighbours
 * alike and so compresses better; those at one address keep their order, since it may decide which
 * of them gives the name.
 */
#include "symbols/skeleton_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"
#include "symbols/address_sort.h"
#include "symbols/elf_private.h"
#include "symbols/function_symbol.h"
#include "symbols/plt.h"

/*
 * The section of a symbol that claims one which is not there; none of a skeleton's has that number.
 */
#define NO_SECTION 0xfef0

void mt_skeleton_symbols_deinit(struct mt_skeleton_symbols *symbols)
{
	mt_array_deinit(&symbols->table);
	mt_array_deinit(&symbols->strings);
	mt_array_deinit(&symbols->relocated);
	mt_array_deinit(&symbols->numbers);
}

/* ---- Relocations ---- */

struct relocation {
	const uint8_t *bytes; /* all of it */
	size_t size;
	uint32_t type, symbol;
};

/* The next relocation of a section, RELA or REL. */
static bool next_relocation(const struct mt_elf *elf, bool addends, struct mt_cursor *c,
			    struct relocation *out)
{
	uint64_t info;

	out->size = (elf->is_64 ? 16u : 8u) + (!addends ? 0 : elf->is_64 ? 8u : 4u);
	out->bytes = mt_cursor_bytes(c, out->size);
	if (!out->bytes)
		return false;
	info = elf->is_64 ? mt_get_le64(out->bytes + 8) : mt_get_le32(out->bytes + 4);
	out->type = (uint32_t)(elf->is_64 ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info));
	out->symbol = (uint32_t)(elf->is_64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info));
	return true;
}

static struct mt_cursor relocations_of(const struct mt_elf *elf, size_t i, bool *addends)
{
	struct mt_span raw = mt_elf_raw_section(elf, i);

	*addends = elf->sections.items[i].type == SHT_RELA;
	return mt_cursor_init(raw.bytes, raw.bytes ? raw.size : 0);
}

bool mt_skeleton_mark(struct mt_elf *elf, size_t i, struct mt_skeleton_symbols *dynamic)
{
	size_t count = mt_elf_symbol_count(elf, true);
	struct relocation r;
	bool addends;
	struct mt_cursor c = relocations_of(elf, i, &addends);

	if (!mt_array_reserve(&dynamic->relocated, count + 1))
		return false;
	if (!dynamic->relocated.count)
		memset(dynamic->relocated.items, 0, count + 1);
	dynamic->relocated.count = count;
	while (next_relocation(elf, addends, &c, &r)) {
		if (r.symbol < count && mt_plt_is_slot(elf->machine, r.type, r.symbol))
			dynamic->relocated.items[r.symbol] = 1;
	}
	return true;
}

static void set_symbol(const struct mt_elf *elf, uint8_t *bytes, uint32_t type, uint32_t symbol)
{
	if (elf->is_64)
		mt_put_le64(bytes + 8, ELF64_R_INFO((uint64_t)symbol, type));
	else
		mt_put_le32(bytes + 4, (uint32_t)ELF32_R_INFO(symbol, type));
}

bool mt_skeleton_relocations(struct mt_elf *elf, size_t i,
			     const struct mt_skeleton_symbols *dynamic, uint8_t **out, size_t *size)
{
	MT_ARRAY(uint8_t) kept = {0};
	struct relocation r;
	bool addends;
	struct mt_cursor c = relocations_of(elf, i, &addends);

	if (!mt_array_reserve(&kept, mt_cursor_left(&c) + 1))
		return false;
	while (next_relocation(elf, addends, &c, &r)) {
		uint32_t number =
			r.symbol < dynamic->numbers.count ? dynamic->numbers.items[r.symbol] : 0;

		if (!mt_plt_is_slot(elf->machine, r.type, r.symbol) || (r.symbol && !number))
			continue;
		memcpy(kept.items + kept.count, r.bytes, r.size);
		set_symbol(elf, kept.items + kept.count, r.type, number);
		kept.count += r.size;
	}
	*out = kept.items;
	*size = kept.count;
	return true;
}

/* ---- Symbols ---- */

static bool is_kept(struct mt_elf *from, size_t i, bool dynamic,
		    const struct mt_skeleton_symbols *symbols, struct mt_elf_symbol *symbol)
{
	if (!i || !mt_elf_symbol(from, dynamic, i, symbol))
		return false;
	return mt_symbol_is_function(from, symbol) ||
	       (i < symbols->relocated.count && symbols->relocated.items[i]);
}

/* The name's place in the strings; UINT32_MAX where there is no room for it. */
static uint32_t add_string(struct mt_skeleton_symbols *symbols, const char *name)
{
	size_t size = strlen(name) + 1, at = symbols->strings.count;

	if (at + size >= UINT32_MAX || !mt_array_reserve(&symbols->strings, at + size))
		return UINT32_MAX;
	memcpy(symbols->strings.items + at, name, size);
	symbols->strings.count += size;
	return (uint32_t)at;
}

static void write_symbol_64(uint8_t *at, uint32_t name, const struct mt_elf_symbol *symbol)
{
	mt_put_le32(at, name);
	at[4] = (uint8_t)ELF64_ST_INFO(symbol->binding, symbol->type);
	at[5] = symbol->visibility;
	mt_put_le16(at + 6, symbol->section);
	mt_put_le64(at + 8, symbol->value);
	mt_put_le64(at + 16, symbol->size);
}

static void write_symbol_32(uint8_t *at, uint32_t name, const struct mt_elf_symbol *symbol)
{
	mt_put_le32(at, name);
	mt_put_le32(at + 4, (uint32_t)symbol->value);
	mt_put_le32(at + 8, (uint32_t)symbol->size);
	at[12] = (uint8_t)ELF32_ST_INFO(symbol->binding, symbol->type);
	at[13] = symbol->visibility;
	mt_put_le16(at + 14, symbol->section);
}

static bool add_symbol(struct mt_skeleton_symbols *symbols, const struct mt_elf *image,
		       struct mt_elf_symbol *symbol)
{
	size_t size = image->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint32_t name = add_string(symbols, symbol->name);

	if (name == UINT32_MAX || !mt_array_reserve(&symbols->table, symbols->table.count + size))
		return false;
	if (symbol->section < SHN_LORESERVE && symbol->section >= image->sections.count)
		symbol->section = NO_SECTION;
	if (image->is_64)
		write_symbol_64(symbols->table.items + symbols->table.count, name, symbol);
	else
		write_symbol_32(symbols->table.items + symbols->table.count, name, symbol);
	symbols->table.count += size;
	return true;
}

/* The null symbol, in front of the others. */
static bool add_null(struct mt_skeleton_symbols *symbols, const struct mt_elf *image)
{
	struct mt_elf_symbol null = {.name = ""};

	return add_symbol(symbols, image, &null);
}

/* The kept symbols by address. NULL out of memory. */
static struct mt_addressed *sorted_symbols(struct mt_elf *from, bool dynamic,
					   const struct mt_skeleton_symbols *symbols, size_t *count)
{
	size_t all = mt_elf_symbol_count(from, dynamic), n = 0;
	struct mt_addressed *order = malloc((all + 1) * sizeof(*order));
	struct mt_elf_symbol symbol;

	for (size_t i = 0; order && i < all && i < UINT32_MAX; i++) {
		if (is_kept(from, i, dynamic, symbols, &symbol))
			order[n++] = (struct mt_addressed){symbol.value, (uint32_t)i};
	}
	if (order && !mt_address_sort(order, n)) {
		free(order);
		return NULL;
	}
	*count = n;
	return order;
}

bool mt_skeleton_symbols_collect(struct mt_elf *from, const struct mt_elf *image, bool dynamic,
				 struct mt_skeleton_symbols *symbols)
{
	size_t count, all = mt_elf_symbol_count(from, dynamic);
	MT_CLEANUP_FREE struct mt_addressed *order = sorted_symbols(from, dynamic, symbols, &count);
	struct mt_elf_symbol symbol;

	if (!order || !mt_array_reserve(&symbols->numbers, all + 1))
		return false;
	memset(symbols->numbers.items, 0, (all + 1) * sizeof(*symbols->numbers.items));
	symbols->numbers.count = all;
	if (!count)
		return true;
	if (!add_null(symbols, image))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!mt_elf_symbol(from, dynamic, order[i].index, &symbol) ||
		    !add_symbol(symbols, image, &symbol))
			return false;
		symbols->numbers.items[order[i].index] = (uint32_t)i + 1;
	}
	return true;
}
