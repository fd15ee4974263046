/*
 * Which of several symbols at one address names it: one with a size, one with a type, global, weak,
 * local, fewer leading underscores, the longer name, the first. That is perf's order, so that names
 * agree, but for weak before local: what a program exports is its name in the stripped file, too.
 */
#ifndef MT_SYMBOLS_NAMES_SYMBOL_CHOICE_H
#define MT_SYMBOLS_NAMES_SYMBOL_CHOICE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bits of a rank: the symbol has a size, has a type. */
#define MT_SYMBOL_SIZED 8u
#define MT_SYMBOL_TYPED 4u

/* The part of the order that needs no name: the higher, the better. */
static inline unsigned int mt_symbol_rank(bool sized, uint8_t type, uint8_t binding)
{
	unsigned int reach = binding == STB_LOCAL ? 0 : binding == STB_WEAK ? 1 : 2;

	return (sized ? MT_SYMBOL_SIZED : 0) | (type != STT_NOTYPE ? MT_SYMBOL_TYPED : 0) | reach;
}

/* Among equal ranks: whether `later`, demangled, is the better name than `first`. */
static inline bool mt_symbol_name_better(const char *later, const char *first)
{
	size_t a = strspn(first, "_"), b = strspn(later, "_");

	return a != b ? b < a : strlen(later) > strlen(first);
}

#endif
