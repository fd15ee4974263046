/* Runs the program of one FDE, up to an address or through. Private to the CFI reader. */
#ifndef MT_UNWIND_CFI_CFI_PROGRAM_H
#define MT_UNWIND_CFI_CFI_PROGRAM_H

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

/*
 * All rows of an FDE that covers anything, by rising address: `row` is told from which address on
 * each holds, the first from fde->start; NULL stands for one that a broken program leaves untold.
 * False as soon as `row` gives it.
 */
bool mt_cfi_program_rows(const struct mt_cfi_section *section, const struct mt_cfi_fde *fde,
			 bool (*row)(void *context, uint64_t from, const struct mt_cfi_row *row),
			 void *context);

#endif
