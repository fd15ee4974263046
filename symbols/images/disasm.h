/* Prints x86-64 instructions, decoded by capstone. Not thread-safe. */
#ifndef MT_SYMBOLS_IMAGES_DISASM_H
#define MT_SYMBOLS_IMAGES_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_disasm;

/* NULL out of memory. */
struct mt_disasm *mt_disasm_create(void);
void mt_disasm_destroy(struct mt_disasm *disasm);

/* A static text that says why nothing can be decoded; NULL if decoding works. */
const char *mt_disasm_problem(struct mt_disasm *disasm);

/* One instruction as text: "call", "0x401136". */
struct mt_insn_text {
	uint8_t size;
	bool is_syscall;
	uint64_t target; /* of a direct call; else 0 */
	char text[200];
};

/*
 * Decodes and prints the instruction at an address, in AT&T syntax or Intel's; false for
 * invalid bytes, or without capstone.
 */
bool mt_disasm_print(struct mt_disasm *disasm, bool att, uint64_t address, const uint8_t *code,
		     size_t size, struct mt_insn_text *out);

#endif
