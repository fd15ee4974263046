/*
 * Call frame information (CFI) of one ELF file: for a link-time address, the row that locates the
 * caller's registers.
 *
 * All bytes are borrowed and read with bounds checks; the expressions of a row are borrowed from
 * these bytes. Thread-safe: results do not depend on the caches of an mt_cfi.
 */
#ifndef MT_UNWIND_CFI_CFI_H
#define MT_UNWIND_CFI_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/cleanup.h"
#include "symbols/elf/elf.h"

struct mt_cfi;
struct mt_cfi_rules;
struct mt_cursor;

#define MT_CFI_REGISTERS 17 /* x86-64 DWARF numbers; 16 is the return address */

/* x86-64 DWARF numbers of the registers that unwinding uses. */
enum mt_dwarf_register {
	MT_DWARF_RBX = 3,
	MT_DWARF_RBP = 6,
	MT_DWARF_RSP = 7,
	MT_DWARF_R12 = 12,
	MT_DWARF_RIP = 16,
};

enum mt_cfi_rule_kind {
	MT_CFI_UNSPECIFIED, /* not in the CFI: the ABI's rule applies */
	MT_CFI_UNDEFINED,
	MT_CFI_SAME,
	MT_CFI_OFFSET,	       /* saved at CFA + offset */
	MT_CFI_VAL_OFFSET,     /* value is CFA + offset */
	MT_CFI_REGISTER,       /* value is in reg; for the CFA: reg + offset */
	MT_CFI_EXPRESSION,     /* saved at the expression's result */
	MT_CFI_VAL_EXPRESSION, /* value is the expression's result */
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
	struct mt_cfi_rule cfa; /* MT_CFI_REGISTER or MT_CFI_VAL_EXPRESSION */
	struct mt_cfi_rule reg[MT_CFI_REGISTERS];
	bool signal; /* a signal frame: its caller's pc is not a return address */
};

enum mt_cfi_found {
	MT_CFI_FOUND,
	MT_CFI_NONE,   /* no FDE covers the address */
	MT_CFI_BROKEN, /* the FDE that covers the address is malformed */
};

/* The sections to read; each may be empty. */
struct mt_cfi_sections {
	struct mt_span eh_frame_hdr, eh_frame, debug_frame;
};

/* Borrows the bytes until destroyed. Only reads the head of .eh_frame_hdr. NULL out of memory. */
struct mt_cfi *mt_cfi_create(const struct mt_cfi_sections *sections);

/* mt_cfi_create() for all CFI sections of an ELF file, with all pieces that a recording carries. */
struct mt_cfi *mt_cfi_of_elf(struct mt_elf *elf);
void mt_cfi_destroy(struct mt_cfi *cfi);
MT_DEFINE_CLEANUP(mt_cfi, struct mt_cfi)

/*
 * The code range [*start, *end) of the FDE that covers a link-time address: a function, or a part
 * of one that the compiler split off. False if no FDE covers the address.
 */
bool mt_cfi_range(struct mt_cfi *cfi, uint64_t address, uint64_t *start, uint64_t *end);

/* The row for a link-time address. *row is only written for MT_CFI_FOUND. */
enum mt_cfi_found mt_cfi_find(struct mt_cfi *cfi, uint64_t address, struct mt_cfi_row *row);

/*
 * All rules of the FDE that covers a link-time address (unwind/cfi/cfi_rules.h), built on first use
 * and borrowed until destroyed. NULL if they cannot be built; then use mt_cfi_find().
 */
const struct mt_cfi_rules *mt_cfi_rules_at(struct mt_cfi *cfi, uint64_t address);

#endif
