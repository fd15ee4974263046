/*
 * Making a skeleton of an ELF file: what is left of it where only unwinding and naming are wanted
 * (FORMAT.md section 8 says what that is). A recording carries skeletons; mt_elf_open_skeleton()
 * reads them. The recorder uses this: no library behind it.
 */
#ifndef MT_SYMBOLS_SKELETON_H
#define MT_SYMBOLS_SKELETON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_elf;
struct mt_error;

struct mt_skeleton_wish {
	bool names, unwind, lines;
};

/* Whether a section's bytes are looked at for such a skeleton: what has to be read of a file. */
bool mt_skeleton_needs(const struct mt_skeleton_wish *wish, const char *name, uint32_t type);

/*
 * The skeleton of elf. debug: its debug file, where .symtab and debug information are taken from
 * that elf itself does not have; or NULL. *out is the caller's to free.
 */
struct mt_error *mt_skeleton_create(struct mt_elf *elf, struct mt_elf *debug,
				    const struct mt_skeleton_wish *wish, uint8_t **out,
				    size_t *size);

#endif
