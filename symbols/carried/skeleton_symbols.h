/*
 * The symbols of a skeleton of seen code, for skeleton.c alone: a few out of an image's tables,
 * with the strings they need and no others; and the relocations that lead stubs to their functions.
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

/* What is kept of .symtab or .dynsym. */
struct mt_kept_symbols {
	struct mt_elf *from; /* the image or its debug file */
	bool dynamic;
	const struct mt_elf_input *input;
	struct mt_map64 *known; /* what .symtab has, and .dynsym need not have */
	/* of .dynsym: the symbol of each relocation, by its old index; those are the first ones */
	MT_ARRAY(uint32_t) relocated;
	MT_ARRAY(uint64_t) resolvers; /* addresses that relocations have in place of a symbol */
	MT_ARRAY(uint8_t) chosen;     /* the others, as the table has them, in its order */
};

void mt_kept_symbols_deinit(struct mt_kept_symbols *kept);

/* Bytes of one symbol. */
size_t mt_skeleton_symbol_size(const struct mt_elf *elf);

/* Bytes that were made, the owner's to free. */
struct mt_made_bytes {
	uint8_t *items;
	size_t count, capacity;
};

/*
 * Makes the table, the null symbol first, and its strings. Both are empty where none is kept. Of
 * .symtab before of .dynsym, in which symbols that .symtab has, too, are zeros. False out of
 * memory, with *symbols and *strings to be freed all the same.
 */
bool mt_kept_symbols_make(const struct mt_kept_symbols *kept, struct mt_made_bytes *symbols,
			  struct mt_made_bytes *strings);

/*
 * Collects the relocations of section i that are of stubs. kept: NULL where all symbols are kept;
 * else .dynsym's, to which their symbols are added, by whose new numbers they name them. False out
 * of memory.
 */
bool mt_skeleton_relocations_collect(struct mt_elf *elf, size_t i, const struct mt_elf_input *input,
				     struct mt_kept_symbols *kept, struct mt_made_bytes *out);

#endif
