/*
 * The symbol tables of a skeleton, for skeleton.c alone: the symbols that name code and those that
 * relocations of stubs name, about in order of address, with the strings they need and no others.
 *
 * A table may have millions of symbols: they are gone through in batches of bounded size, once to
 * tell what they will take, and again to write them.
 */
#ifndef MT_SYMBOLS_SKELETON_SYMBOLS_H
#define MT_SYMBOLS_SKELETON_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"

struct mt_elf;
struct mt_skeleton_batch;
struct mt_skeleton_input;
struct mt_skeleton_output;

#define MT_SKELETON_LOOK ((size_t)4096)	       /* bytes of room for some symbols, */
#define MT_SKELETON_LOOK_NAMES ((size_t)16384) /* and for some names */

/* What is kept of .symtab or .dynsym. */
struct mt_skeleton_table {
	struct mt_elf *from;	    /* the image or its debug file */
	const struct mt_elf *image; /* whose sections the symbols are to name */
	const struct mt_skeleton_input *input;
	struct mt_map64 *known; /* what the other table has: adds to it, or leaves that out */
	bool dynamic;
	size_t count;		      /* of symbols kept, with the null symbol; 0: none */
	uint64_t strings;	      /* bytes of theirs */
	MT_ARRAY(uint8_t) relocated;  /* by old index: a relocation names it */
	MT_ARRAY(uint32_t) numbers;   /* likewise: the new index, 0 for those left out */
	MT_ARRAY(uint64_t) resolvers; /* addresses that relocations have in place of a symbol */
	bool chosen;		      /* only marked symbols may be kept, and relocated ones: */
	MT_ARRAY(uint8_t) marks;      /* a bit for each old index (symbols/seen_symbols.h) */
	/* the first of the marked symbols, rising, and their entries, each of the table's stride:
	 */
	MT_ARRAY(uint32_t) copied;
	MT_ARRAY(uint8_t) copies;
	uint8_t *entries, *names; /* room to look at some of either, as these are few */
	/* what is found out while it is measured: */
	bool measured;
	MT_ARRAY(uint8_t) kept;	    /* a bit for each old index */
	MT_ARRAY(uint16_t) lengths; /* of the names of these, in that order */
	MT_ARRAY(uint32_t) ends;    /* of the batches, by old index */
	struct mt_skeleton_batch *batch;
};

void mt_skeleton_table_deinit(struct mt_skeleton_table *table);

/* Tells what will be kept. False out of memory, and where strings are too large to be named. */
bool mt_skeleton_table_measure(struct mt_skeleton_table *table);

/* Bytes of one symbol, as the image has them. */
size_t mt_skeleton_symbol_size(const struct mt_elf *image);

/* Write the symbols, and their strings, as they were measured. False out of memory or as output. */
bool mt_skeleton_table_write(struct mt_skeleton_table *table,
			     const struct mt_skeleton_output *output);
bool mt_skeleton_strings_write(struct mt_skeleton_table *table,
			       const struct mt_skeleton_output *output);

/* The relocations that lead stubs to their functions. */
struct mt_skeleton_relocations {
	uint8_t *bytes; /* NULL or the caller's to free */
	size_t size, capacity;
};

/*
 * Collects those of section i, and marks the symbols that they name in the table, which is yet to
 * be measured. False out of memory.
 */
bool mt_skeleton_relocations_collect(struct mt_elf *elf, size_t i,
				     const struct mt_skeleton_input *input,
				     struct mt_skeleton_table *dynamic,
				     struct mt_skeleton_relocations *out);

/* Gives them the symbols' new numbers, and drops those whose symbol is not kept. */
void mt_skeleton_relocations_renumber(const struct mt_elf *elf, bool addends,
				      const struct mt_skeleton_table *dynamic,
				      struct mt_skeleton_relocations *relocations);

#endif
