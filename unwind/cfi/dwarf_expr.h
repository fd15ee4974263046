/*
 * DWARF expressions as they stand in call frame information: registers and stack words in, one
 * address out.
 */
#ifndef MT_UNWIND_CFI_DWARF_EXPR_H
#define MT_UNWIND_CFI_DWARF_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_dump;
struct mt_unwind_regs;

struct mt_dwarf_expr {
	const uint8_t *bytes;
	size_t size;
	const struct mt_unwind_regs *regs;
	const struct mt_dump *dump;
	const uint64_t *cfa; /* NULL while the CFA itself is computed; else it is on the stack at
				the start */
};

/*
 * Evaluates it; false for a broken or unbounded one, an unknown register, memory that the dump does
 * not hold. Takes at most a few thousand steps, whatever the bytes say.
 */
bool mt_dwarf_expr_eval(const struct mt_dwarf_expr *expr, uint64_t *out);

#endif
