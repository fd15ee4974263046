/*
 * The parts of a skeleton (skeleton.c): chosen symbols of an image's tables with their strings, the
 * relocations that connect PLT stubs to functions, and pruned sections.
 */
#ifndef MT_SYMBOLS_CARRIED_SKELETON_PARTS_H
#define MT_SYMBOLS_CARRIED_SKELETON_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "symbols/elf/elf.h"

struct mt_map64;
struct mt_elf_input;
struct mt_seen_code;

/* Bytes that the owner frees. */
struct mt_made_bytes {
	uint8_t *items;
	size_t count, capacity;
};

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

/*
 * Builds the table, with the null symbol first, and its strings; the two are empty if there are no
 * symbols. Call for .symtab before .dynsym: symbols of .dynsym that .symtab has are zeroed. False
 * out of memory; the caller frees *symbols and *strings in any case.
 */
bool mt_kept_symbols_make(const struct mt_kept_symbols *kept, struct mt_made_bytes *symbols,
			  struct mt_made_bytes *strings);

/*
 * Collects the relocations of PLT stubs from section i. `kept` is NULL if all symbols are kept.
 * Otherwise it is that of .dynsym: the symbols of these relocations are added to it, and the
 * relocations use the new symbol numbers. False out of memory.
 */
bool mt_skeleton_relocations_collect(struct mt_elf *elf, size_t i, const struct mt_elf_input *input,
				     struct mt_kept_symbols *kept, struct mt_made_bytes *out);

/*
 * Chooses the symbols of seen code: enough that each address in a seen place has the same name as
 * with the full tables (symbols/names/symtab.h). Adds them to the two tables, which are used
 * together for names; call after collecting the relocations. If seen is NULL, chooses all function
 * symbols. False out of memory.
 */
bool mt_seen_symbols_choose(const struct mt_seen_code *seen, struct mt_kept_symbols *plain,
			    struct mt_kept_symbols *dynamic);

/*
 * Builds a section from the .eh_frame in span, for the same address: the FDEs of code that has a
 * seen place, and their CIEs, each once. Damaged entries are left out. Sets *all if the section has
 * a form that linkers do not write, and has to be kept whole. False out of memory; the caller frees
 * out in any case.
 */
bool mt_pruned_eh_frame_make(struct mt_span span, const struct mt_seen_code *seen,
			     const struct mt_elf_input *input, struct mt_made_bytes *out,
			     bool *all);

/*
 * Appends to *out the compilation units of elf's .debug_info, except units without code at any of
 * the places according to .debug_aranges. Sets *all if nothing can be left out (no .debug_aranges,
 * compressed sections, units that refer to each other). input may be NULL. False out of memory; the
 * caller frees *out in any case.
 */
bool mt_pruned_debug_info_make(struct mt_elf *elf, const struct mt_seen_code *seen,
			       const struct mt_elf_input *input, struct mt_made_bytes *out,
			       bool *all);

#endif
