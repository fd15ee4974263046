/*
 * Parses entries of .eh_frame and .debug_frame: a CIE, or an FDE with its CIE. Results borrow the
 * section's bytes.
 */
#ifndef MT_SYMBOLS_ELF_CFI_ENTRY_H
#define MT_SYMBOLS_ELF_CFI_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/cursor.h"
#include "symbols/elf/elf.h"

/*
 * Pointer encodings, DW_EH_PE_*: value format in the low four bits, base address in the upper four.
 */
enum mt_cfi_pointer {
	MT_CFI_PE_ABSPTR = 0x00,
	MT_CFI_PE_ULEB128 = 0x01,
	MT_CFI_PE_UDATA2 = 0x02,
	MT_CFI_PE_UDATA4 = 0x03,
	MT_CFI_PE_UDATA8 = 0x04,
	MT_CFI_PE_SLEB128 = 0x09,
	MT_CFI_PE_SDATA2 = 0x0a,
	MT_CFI_PE_SDATA4 = 0x0b,
	MT_CFI_PE_SDATA8 = 0x0c,
	MT_CFI_PE_PCREL = 0x10,
	MT_CFI_PE_TEXTREL = 0x20,
	MT_CFI_PE_DATAREL = 0x30,
	MT_CFI_PE_FUNCREL = 0x40,
	MT_CFI_PE_ALIGNED = 0x50,
	MT_CFI_PE_INDIRECT = 0x80,
	MT_CFI_PE_OMIT = 0xff,
};

struct mt_cfi_section {
	struct mt_span span;
	uint64_t data_base; /* base of DATAREL pointers */
	bool debug_frame;   /* .debug_frame, whose CIE ids differ from .eh_frame's */
};

struct mt_cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding; /* of addresses in the FDE */
	bool sized;	  /* 'z': the FDE has augmentation data with a size */
	bool signal;	  /* 'S': a signal frame */
	struct mt_cursor program;
};

struct mt_cfi_fde {
	struct mt_cfi_cie cie;
	uint64_t start, end; /* covered link-time addresses: [start, end) */
	struct mt_cursor program;
};

/* The fields that every entry has: its position, its successor and its kind. */
struct mt_cfi_entry {
	size_t next;	   /* offset of the next entry */
	size_t cie_offset; /* of an FDE's CIE */
	bool terminator;   /* the length is zero */
	bool cie;
	struct mt_cursor body; /* after the id */
};

/*
 * Reads a pointer in an encoding; `function` is the base of FUNCREL. False if it is damaged,
 * omitted, indirect or unknown.
 */
bool mt_cfi_pointer_read(struct mt_cursor *c, uint8_t encoding,
			 const struct mt_cfi_section *section, uint64_t function, uint64_t *out);

/* The entry at an offset; false if its length or its CIE offset is not inside the section. */
bool mt_cfi_entry_read(const struct mt_cfi_section *section, size_t offset,
		       struct mt_cfi_entry *out);

/* The CIE at an offset. */
bool mt_cfi_cie_read(const struct mt_cfi_section *section, size_t offset, struct mt_cfi_cie *out);

/* The FDE at an offset, with its CIE. */
bool mt_cfi_fde_read(const struct mt_cfi_section *section, size_t offset, struct mt_cfi_fde *out);

/* Completes an FDE whose entry and CIE (in fde->cie) are already read. */
bool mt_cfi_fde_read_body(const struct mt_cfi_section *section, const struct mt_cfi_entry *entry,
			  struct mt_cfi_fde *fde);

#endif
