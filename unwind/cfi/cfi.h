/*
 * Call frame information of one ELF file: for a link-time address, the row that says where the
 * caller's registers are.
 *
 * Everything is read through bounds checks from the file's own bytes, which are borrowed; a row
 * borrows expressions from them too. Workers may share an mt_cfi: what it keeps of what it has read
 * changes under its own lock, and no answer depends on it.
 */
#ifndef MT_UNWIND_CFI_CFI_H
#define MT_UNWIND_CFI_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elf.h"

struct mt_cfi;
struct mt_cfi_rules;
struct mt_cursor;

#define MT_CFI_REGISTERS 17 /* x86-64 by DWARF number; 16 is the return address */

/* x86-64's DWARF numbers that have a part in unwinding. */
enum mt_dwarf_register {
	MT_DWARF_RBX = 3,
	MT_DWARF_RBP = 6,
	MT_DWARF_RSP = 7,
	MT_DWARF_R12 = 12,
	MT_DWARF_RIP = 16,
};

enum mt_cfi_rule_kind {
	MT_CFI_UNSPECIFIED, /* the CFI says nothing: the ABI does */
	MT_CFI_UNDEFINED,
	MT_CFI_SAME,
	MT_CFI_OFFSET,	       /* saved at CFA + offset */
	MT_CFI_VAL_OFFSET,     /* is CFA + offset */
	MT_CFI_REGISTER,       /* is in reg; for the CFA: reg + offset */
	MT_CFI_EXPRESSION,     /* saved at what the expression gives */
	MT_CFI_VAL_EXPRESSION, /* is what the expression gives */
};

struct mt_cfi_rule {
	uint8_t kind; /* enum mt_cfi_rule_kind */
	uint16_t reg; /* DWARF number */
	uint32_t expression_size;
	union {
		int64_t offset;
		const uint8_t *expression;
	};
};

struct mt_cfi_row {
	struct mt_cfi_rule cfa; /* REGISTER or VAL_EXPRESSION, nothing else */
	struct mt_cfi_rule reg[MT_CFI_REGISTERS];
	bool signal; /* a signal frame: its caller's pc was interrupted, not calling */
};

enum mt_cfi_found {
	MT_CFI_FOUND,
	MT_CFI_NONE,   /* nothing covers the address */
	MT_CFI_BROKEN, /* something does, and cannot be read */
};

/* The parts that CFI is read from, each may be absent. */
struct mt_cfi_sections {
	struct mt_span eh_frame_hdr, eh_frame, debug_frame;
};

/* Borrows the bytes until destroyed. NULL out of memory. Nothing is read yet. */
struct mt_cfi *mt_cfi_create(const struct mt_cfi_sections *sections);

/* The same of all that an ELF file has, in each piece that it was carried in. */
struct mt_cfi *mt_cfi_of_elf(struct mt_elf *elf);
void mt_cfi_destroy(struct mt_cfi *cfi);

/*
 * The piece of code [*start, *end) that the entry for a link-time address describes: a function,
 * or the part of one that the compiler set apart. False where nothing covers the address.
 */
bool mt_cfi_range(struct mt_cfi *cfi, uint64_t address, uint64_t *start, uint64_t *end);

/* The row for a link-time address. *row is written only where MT_CFI_FOUND. */
enum mt_cfi_found mt_cfi_find(struct mt_cfi *cfi, uint64_t address, struct mt_cfi_row *row);

/*
 * All rules of the code around a link-time address (unwind/cfi/cfi_rules.h), kept once they are
 * made; borrowed until destroyed. NULL where they are not to be had so: mt_cfi_find() says more.
 */
const struct mt_cfi_rules *mt_cfi_rules_at(struct mt_cfi *cfi, uint64_t address);

#endif
