/* Which entries of a symbol table name code: what is looked up by address, and what is carried. */
#ifndef MT_SYMBOLS_CARRIED_FUNCTION_SYMBOL_H
#define MT_SYMBOLS_CARRIED_FUNCTION_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf;
struct mt_elf_symbol;
struct mt_elf_symbol_table;

/*
 * Functions; and, inside sections of code, what assembly left without a type, or with the wrong
 * one.
 */
bool mt_symbol_is_function(const struct mt_elf *elf, const struct mt_elf_symbol *symbol);

/* Whether names are looked at to tell: of symbols without a type, on some machines. */
bool mt_symbol_names_tell(const struct mt_elf *elf);

/* Where a function is by its symbol, and the symbol's index in its table. */
struct mt_function_place {
	uint64_t start, size;
	size_t index;
	bool typed;
};

/*
 * The next functions of ".symtab" (dynamic false) or ".dynsym" (true) from symbol *i on, `count` of
 * them or as many as there are; *i becomes what comes behind. Gives how many; 0 at the end. A
 * million symbols are not rare: most are told by the first 8 bytes of their entries.
 */
size_t mt_symbol_functions(struct mt_elf *elf, bool dynamic, size_t *i,
			   struct mt_function_place *out, size_t count);

/* Symbol i, whose entry is copied to there, where it is a function. */
bool mt_symbol_function_at(struct mt_elf *elf, const struct mt_elf_symbol_table *table,
			   const uint8_t *entry, size_t i, struct mt_function_place *out);

#endif
