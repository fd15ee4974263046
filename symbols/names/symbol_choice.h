/*
 * Chooses the name among several symbols at one address. In this order: with a size; with a type;
 * global, then weak, then local; fewer leading underscores; the longer name; the first. This is
 * perf's order except that weak precedes local: a stripped file then gives the same names.
 */
#ifndef MT_SYMBOLS_NAMES_SYMBOL_CHOICE_H
#define MT_SYMBOLS_NAMES_SYMBOL_CHOICE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bits of a rank: the symbol has a size; it has a type. */
#define MT_SYMBOL_SIZED 8u
#define MT_SYMBOL_TYPED 4u

/* The part of the order that needs no names; higher is better. */
static inline unsigned int mt_symbol_rank(bool sized, uint8_t type, uint8_t binding)
{
	unsigned int reach = binding == STB_LOCAL ? 0 : binding == STB_WEAK ? 1 : 2;

	return (sized ? MT_SYMBOL_SIZED : 0) | (type != STT_NOTYPE ? MT_SYMBOL_TYPED : 0) | reach;
}

/* For equal ranks: true if `later`, demangled, is a better name than `first`. */
static inline bool mt_symbol_name_better(const char *later, const char *first)
{
	size_t a = strspn(first, "_"), b = strspn(later, "_");

	return a != b ? b < a : strlen(later) > strlen(first);
}

#endif
