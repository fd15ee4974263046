/*
 * The symbol tables of a skeleton, for skeleton.c alone: the symbols that name code and those that
 * relocations of stubs name, in order of address, with the strings they need and no others.
 */
#ifndef MT_SYMBOLS_SKELETON_SYMBOLS_H
#define MT_SYMBOLS_SKELETON_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_elf;

struct mt_skeleton_symbols {
	MT_ARRAY(uint8_t) table;     /* as a section has it; empty: no symbol is kept */
	MT_ARRAY(uint8_t) strings;   /* the same */
	MT_ARRAY(uint8_t) relocated; /* by old index: a relocation names it */
	MT_ARRAY(uint32_t) numbers;  /* by old index: the new one, 0 for those left out */
};

void mt_skeleton_symbols_deinit(struct mt_skeleton_symbols *symbols);

/*
 * Marks the symbols that stubs' relocations in section i name; to be called before collecting.
 * False out of memory.
 */
bool mt_skeleton_mark(struct mt_elf *elf, size_t i, struct mt_skeleton_symbols *dynamic);

/*
 * Collects .symtab or .dynsym of `from`, which is image or its debug file. False out of memory, and
 * where the strings are too large to be named.
 */
bool mt_skeleton_symbols_collect(struct mt_elf *from, const struct mt_elf *image, bool dynamic,
				 struct mt_skeleton_symbols *symbols);

/*
 * The relocations of section i that lead stubs to their functions, by the symbols' new numbers.
 * *out is the caller's to free. False out of memory.
 */
bool mt_skeleton_relocations(struct mt_elf *elf, size_t i,
			     const struct mt_skeleton_symbols *dynamic, uint8_t **out,
			     size_t *size);

#endif
