/* Which entries of a symbol table name code: what is looked up by address, and what is carried. */
#ifndef MT_SYMBOLS_FUNCTION_SYMBOL_H
#define MT_SYMBOLS_FUNCTION_SYMBOL_H

#include <stdbool.h>

struct mt_elf;
struct mt_elf_symbol;

/*
 * Functions; and, inside sections of code, what assembly left without a type, or with the wrong
 * one.
 */
bool mt_symbol_is_function(const struct mt_elf *elf, const struct mt_elf_symbol *symbol);

#endif
