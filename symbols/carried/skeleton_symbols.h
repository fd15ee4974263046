/*
 * The symbols of a skeleton of seen code: chosen symbols of an image's tables with their strings,
 * and the relocations that connect PLT stubs to functions. Only for skeleton.c.
 */
#ifndef MT_SYMBOLS_CARRIED_SKELETON_SYMBOLS_H
#define MT_SYMBOLS_CARRIED_SKELETON_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_elf;
struct mt_map64;
struct mt_elf_input;

/* The symbols kept of .symtab or .dynsym. */
struct mt_kept_symbols {
	struct mt_elf *from; /* the image or its debug file */
	bool dynamic;
	const struct mt_elf_input *input;
	struct mt_map64 *known; /* the symbols of .symtab, which .dynsym need not repeat */
	/* .dynsym: old symbol indices of the relocations; these symbols come first */
	MT_ARRAY(uint32_t) relocated;
	MT_ARRAY(uint64_t) resolvers; /* resolver addresses of relocations without a symbol */
	/* entries of the other symbols, in the table's form and order */
	MT_ARRAY(uint8_t) chosen;
};

void mt_kept_symbols_deinit(struct mt_kept_symbols *kept);

/* Bytes of one symbol. */
size_t mt_skeleton_symbol_size(const struct mt_elf *elf);

/* Bytes that the owner frees. */
struct mt_made_bytes {
	uint8_t *items;
	size_t count, capacity;
};

/*
 * Builds the table, with the null symbol first, and its strings; both are empty without symbols.
 * Call for .symtab before .dynsym, where symbols that .symtab has are zeroed. False out of memory;
 * the caller frees *symbols and *strings in any case.
 */
bool mt_kept_symbols_make(const struct mt_kept_symbols *kept, struct mt_made_bytes *symbols,
			  struct mt_made_bytes *strings);

/*
 * Collects the relocations of PLT stubs from section i. kept: NULL if all symbols are kept; else
 * .dynsym's, to which their symbols are added, and the relocations use the new symbol numbers.
 * False out of memory.
 */
bool mt_skeleton_relocations_collect(struct mt_elf *elf, size_t i, const struct mt_elf_input *input,
				     struct mt_kept_symbols *kept, struct mt_made_bytes *out);

#endif
