/*
 * What an x86-64 instruction does to control flow and to the stack pointer. The types serve who
 * decodes by other means; the disassembler behind them is capstone.
 */
#ifndef MT_SYMBOLS_IMAGES_DISASM_H
#define MT_SYMBOLS_IMAGES_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mt_insn_kind {
	MT_INSN_OTHER, /* goes on behind itself; of a branch: what it is is not known */
	MT_INSN_CONDITIONAL,
	MT_INSN_JUMP,
	MT_INSN_JUMP_INDIRECT,
	MT_INSN_CALL,
	MT_INSN_CALL_INDIRECT,
	MT_INSN_RETURN,
	MT_INSN_SYSCALL, /* comes back behind itself */
	MT_INSN_STOP, /* int, iret, ud2, hlt: does not go on behind itself as far as can be told */
};

struct mt_insn {
	enum mt_insn_kind kind;
	uint8_t size;
	bool loads_sp; /* the stack pointer becomes something that no frame of its own explains */
};

/*
 * A way to decode one instruction; false for bytes that are none. What it takes is there once
 * ready() has been called, and has said so. One thread at a time.
 */
struct mt_decoder {
	void *context;
	bool (*ready)(void *context); /* NULL: it never is */
	bool (*decode)(void *context, const uint8_t *code, size_t size, struct mt_insn *out);
};

struct mt_disasm;

/* NULL out of memory. */
struct mt_disasm *mt_disasm_create(void);
void mt_disasm_destroy(struct mt_disasm *disasm);

/* As a decoder; borrows disasm, which may be NULL. */
struct mt_decoder mt_disasm_decoder(struct mt_disasm *disasm);

#endif
