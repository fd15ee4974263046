/* Runs the call frame program of one FDE. Private to the CFI reader. */
#ifndef MT_UNWIND_CFI_CFI_PROGRAM_H
#define MT_UNWIND_CFI_CFI_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct mt_cfi_fde;
struct mt_cfi_row;
struct mt_cfi_section;

/* The row at an address that the FDE covers. False, with *row undefined, if malformed. */
bool mt_cfi_program_run(const struct mt_cfi_section *section, const struct mt_cfi_fde *fde,
			uint64_t address, struct mt_cfi_row *row);

/*
 * Passes all rows of an FDE with a nonempty range to row(), by rising address. `from` is the first
 * address of the row, at first fde->start. The row is NULL if the program is malformed. Returns
 * false as soon as row() does.
 */
bool mt_cfi_program_rows(const struct mt_cfi_section *section, const struct mt_cfi_fde *fde,
			 bool (*row)(void *context, uint64_t from, const struct mt_cfi_row *row),
			 void *context);

#endif
