/* Selects the symbols that name functions: these are looked up by address, and carried. */
#ifndef MT_SYMBOLS_CARRIED_FUNCTION_SYMBOL_H
#define MT_SYMBOLS_CARRIED_FUNCTION_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf;
struct mt_elf_symbol;
struct mt_elf_symbol_table;

/*
 * True for functions, and in a code section for assembler symbols without a type or with a wrong
 * one.
 */
bool mt_symbol_is_function(const struct mt_elf *elf, const struct mt_elf_symbol *symbol);

/* True if mt_symbol_is_function() reads names: for untyped symbols of some machines. */
bool mt_symbol_names_report(const struct mt_elf *elf);

/* A function's address range and its symbol's index in the table. */
struct mt_function_place {
	uint64_t start, size;
	size_t index;
	bool typed;
};

/* Symbol i, from a copy of its entry; false if it is not a function. */
bool mt_symbol_function_at(struct mt_elf *elf, const struct mt_elf_symbol_table *table,
			   const uint8_t *entry, size_t i, struct mt_function_place *out);

#endif
