/* Runs the program of one FDE up to an address. Private to the CFI reader. */
#ifndef MT_UNWIND_CFI_PROGRAM_H
#define MT_UNWIND_CFI_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct mt_cfi_fde;
struct mt_cfi_row;
struct mt_cfi_section;

/*
 * The row in force at address, which the FDE covers. False for a broken program; *row is then
 * undefined.
 */
bool mt_cfi_program_run(const struct mt_cfi_section *section, const struct mt_cfi_fde *fde,
			uint64_t address, struct mt_cfi_row *row);

#endif
