/* Evaluates DWARF expressions in CFI, from registers and stack words to one address. */
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
	/* NULL while the CFA is computed; else pushed as the initial stack entry */
	const uint64_t *cfa;
};

/*
 * Evaluates the expression in at most a few thousand steps. False if the expression is malformed,
 * does not end, needs an unknown register, or reads memory outside the dump.
 */
bool mt_dwarf_expr_eval(const struct mt_dwarf_expr *expr, uint64_t *out);

#endif
