/*
 * The functions of one image by address: from .symtab and .dynsym, with a name for each PLT stub
 * (`func@plt`). What is near an address is put in order when somebody asks about it; names stay in
 * the ELF's string tables until then, too.
 */
#ifndef MT_SYMBOLS_NAMES_SYMTAB_H
#define MT_SYMBOLS_NAMES_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf;
struct mt_symtab;

/*
 * image is the file that is mapped; symbols the one that has the .symtab: the same, or a debug
 * file. Both are borrowed for the table's life. NULL out of memory.
 */
struct mt_symtab *mt_symtab_create(struct mt_elf *image, struct mt_elf *symbols);
void mt_symtab_destroy(struct mt_symtab *symtab);

#define MT_SYMTAB_NONE UINT32_MAX

/*
 * The function that covers a link-time address: a number below mt_symtab_count(), or
 * MT_SYMTAB_NONE, also out of memory; and its start. Of nested symbols the innermost; of several at
 * one start the one that symbol_choice.h prefers. Not for two threads at once.
 */
uint32_t mt_symtab_find(struct mt_symtab *symtab, uint64_t vaddr, uint64_t *start);

/* How many functions were put in order so far; what find gave is below it. */
size_t mt_symtab_count(const struct mt_symtab *symtab);

/* A function's name as to be printed, without version, the caller's to free; NULL out of memory. */
char *mt_symtab_name(struct mt_symtab *symtab, uint32_t function, bool demangle);

#endif
