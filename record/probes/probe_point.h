/*
 * Where in a function's first instructions a probe costs least. A probe's price is the instruction
 * it replaces: one that the kernel emulates (push, nop, jumps and calls) costs a sixth of one it
 * must run out of line and single-step (x86-64; measured on Linux 6.18). Pure.
 */
#ifndef MT_RECORD_PROBES_PROBE_POINT_H
#define MT_RECORD_PROBES_PROBE_POINT_H

#include <stddef.h>
#include <stdint.h>

struct mt_probe_point {
	size_t offset;		 /* of the chosen instruction; 0: the function's start */
	const char *instruction; /* its name; NULL: none that the kernel emulates was found */
};

/* Bit n: register n as instructions encode it: ax, cx, dx, bx, sp, bp, si, di, r8 to r15. */
enum {
	MT_REGISTER_SP = 4,
	MT_WRITTEN_MEMORY = 1 << 16,
};

/*
 * Chooses the first instruction that the kernel emulates and that every call passes once, with the
 * registers of `needed` as they were at the start. Otherwise the start. code: all of the function.
 */
struct mt_probe_point mt_probe_point_choose(const uint8_t *code, size_t size, uint32_t needed);

/*
 * Length of the instruction at code; 0: not one of the few that begin functions. *written: the
 * registers it changes, and whether memory. *emulated: its name if the kernel emulates it, else
 * NULL.
 */
size_t mt_probe_instruction(const uint8_t *code, size_t size, uint32_t *written,
			    const char **emulated);

/* What a definition's fields are fetched from (probe_definition.h): registers, memory. */
uint32_t mt_probe_needed(const char *definition);

#endif
