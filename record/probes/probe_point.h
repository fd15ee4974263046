/*
 * Finds the cheapest place for a probe among a function's first instructions. The cost depends on
 * the replaced instruction: the kernel emulates some (push, nop, jumps and calls) at a sixth of the
 * cost of single-stepping others out of line (x86-64; measured on Linux 6.18). Pure.
 */
#ifndef MT_RECORD_PROBES_PROBE_POINT_H
#define MT_RECORD_PROBES_PROBE_POINT_H

#include <stddef.h>
#include <stdint.h>

struct mt_probe_point {
	size_t offset;		 /* offset of the chosen instruction; 0: the function's start */
	const char *instruction; /* its name; NULL: no suitable instruction is emulated */
};

/* Bit n: register n as instructions encode it: ax, cx, dx, bx, sp, bp, si, di, r8 to r15. */
enum {
	MT_REGISTER_SP = 4,
	MT_WRITTEN_MEMORY = 1 << 16,
};

/*
 * Chooses the first instruction that the kernel emulates, that every call executes once, and before
 * which the registers of `needed` do not change; else the start of the function. code: all of the
 * function.
 */
struct mt_probe_point mt_probe_point_choose(const uint8_t *code, size_t size, uint32_t needed);

/*
 * Returns the length of the instruction at code; 0: not one of the few that begin functions.
 * *written: registers that it changes, and whether it writes memory. *emulated: its name if the
 * kernel emulates it, else NULL.
 */
size_t mt_probe_instruction(const uint8_t *code, size_t size, uint32_t *written,
			    const char **emulated);

/* Returns the sources of a definition's fields (probe_definition.h): registers and memory. */
uint32_t mt_probe_needed(const char *definition);

#endif
