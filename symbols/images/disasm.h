/*
 * What an x86-64 instruction does to control flow and the stack pointer, decoded by capstone. The
 * types also serve other decoders.
 */
#ifndef MT_SYMBOLS_IMAGES_DISASM_H
#define MT_SYMBOLS_IMAGES_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mt_insn_kind {
	MT_INSN_OTHER, /* continues after itself; of a branch: unknown kind */
	MT_INSN_CONDITIONAL,
	MT_INSN_JUMP,
	MT_INSN_JUMP_INDIRECT,
	MT_INSN_CALL,
	MT_INSN_CALL_INDIRECT,
	MT_INSN_RETURN,
	MT_INSN_SYSCALL, /* returns to the next instruction */
	MT_INSN_STOP,	 /* int, iret, ud2, hlt: not known to continue after itself */
};

struct mt_insn {
	enum mt_insn_kind kind;
	uint8_t size;
	bool loads_sp; /* sets the stack pointer to a value unrelated to its frame */
};

/*
 * A decoder of single instructions; false for invalid bytes. Usable once ready() returned true. Not
 * thread-safe.
 */
struct mt_decoder {
	void *context;
	bool (*ready)(void *context); /* NULL: never ready */
	bool (*decode)(void *context, const uint8_t *code, size_t size, struct mt_insn *out);
};

struct mt_disasm;

/* NULL out of memory. */
struct mt_disasm *mt_disasm_create(void);
void mt_disasm_destroy(struct mt_disasm *disasm);

/* The decoder of disasm, borrowed; disasm may be NULL. */
struct mt_decoder mt_disasm_decoder(struct mt_disasm *disasm);

/* Why nothing can be decoded here, static text; NULL: it can. */
const char *mt_disasm_problem(struct mt_disasm *disasm);

/* One instruction for reading: "call", "0x401136". */
struct mt_insn_text {
	struct mt_insn insn;
	uint64_t target; /* of a direct call; else 0 */
	char text[200];
};

/*
 * Decodes and prints the instruction at an address, in AT&T syntax or Intel's; false as decode().
 */
bool mt_disasm_print(struct mt_disasm *disasm, bool att, uint64_t address, const uint8_t *code,
		     size_t size, struct mt_insn_text *out);

#endif
