/*
 * The functions of one image by address, from .symtab and .dynsym, with a name for each PLT stub
 * (`func@plt`). Functions near an address are sorted, and names read, on the first lookup there.
 */
#ifndef MT_SYMBOLS_NAMES_SYMTAB_H
#define MT_SYMBOLS_NAMES_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf;
struct mt_symtab;

/*
 * image is the mapped file; symbols has the .symtab: the same file, or a debug file. Borrows both
 * until destroyed. NULL out of memory.
 */
struct mt_symtab *mt_symtab_create(struct mt_elf *image, struct mt_elf *symbols);
void mt_symtab_destroy(struct mt_symtab *symtab);

#define MT_SYMTAB_NONE UINT32_MAX

/*
 * The function that covers a link-time address, a number below mt_symtab_count(), and its start;
 * MT_SYMTAB_NONE if there is none, also out of memory. The innermost of nested symbols is chosen;
 * of several at one start the one that symtab.c prefers. Not thread-safe.
 */
uint32_t mt_symtab_find(struct mt_symtab *symtab, uint64_t vaddr, uint64_t *start);

/* Number of functions sorted so far. */
size_t mt_symtab_count(const struct mt_symtab *symtab);

/* A function's printable name without version, which the caller frees; NULL out of memory. */
char *mt_symtab_name(struct mt_symtab *symtab, uint32_t function, bool demangle);

#endif
