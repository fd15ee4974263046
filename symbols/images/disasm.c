/* Decodes instructions with capstone. Opens its handle on first use: few reports read code. */
#include "symbols/images/disasm.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

struct mt_disasm {
	bool tried;
	csh handle;    /* 0: not open */
	cs_insn *insn; /* NULL: nothing can be decoded */
};

struct mt_disasm *mt_disasm_create(void)
{
	return calloc(1, sizeof(struct mt_disasm));
}

void mt_disasm_destroy(struct mt_disasm *disasm)
{
	if (!disasm)
		return;
	if (disasm->insn)
		cs_free(disasm->insn, 1);
	if (disasm->handle)
		cs_close(&disasm->handle);
	free(disasm);
}

/* Opens capstone, once; false where there is no memory for it. */
static bool is_ready(void *context)
{
	struct mt_disasm *disasm = context;

	if (disasm->tried)
		return disasm->insn;
	disasm->tried = true;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &disasm->handle) != CS_ERR_OK) {
		disasm->handle = 0;
		return false;
	}
	cs_option(disasm->handle, CS_OPT_DETAIL, CS_OPT_ON);
	disasm->insn = cs_malloc(disasm->handle);
	return disasm->insn;
}

static bool is_indirect(const cs_x86 *x86)
{
	return x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM;
}

static bool in_group(const struct mt_disasm *disasm, unsigned int group)
{
	return cs_insn_group(disasm->handle, disasm->insn, group);
}

static enum mt_insn_kind kind_of(const struct mt_disasm *disasm)
{
	bool indirect = is_indirect(&disasm->insn->detail->x86);

	switch (disasm->insn->id) {
	case X86_INS_CALL:
		return indirect ? MT_INSN_CALL_INDIRECT : MT_INSN_CALL;
	case X86_INS_JMP:
		return indirect ? MT_INSN_JUMP_INDIRECT : MT_INSN_JUMP;
	case X86_INS_RET:
		return MT_INSN_RETURN;
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
		return MT_INSN_SYSCALL;
	case X86_INS_LCALL:
	case X86_INS_LJMP:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_HLT:
	case X86_INS_UD2:
	case X86_INS_SYSRET:
	case X86_INS_SYSEXIT:
		return MT_INSN_STOP;
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
	case X86_INS_XBEGIN:
		return MT_INSN_CONDITIONAL;
	default:
		if (in_group(disasm, X86_GRP_INT) || in_group(disasm, X86_GRP_IRET))
			return MT_INSN_STOP;
		return in_group(disasm, X86_GRP_JUMP) ? MT_INSN_CONDITIONAL : MT_INSN_OTHER;
	}
}

static bool is_reg(const cs_x86_op *op, x86_reg reg)
{
	return op->type == X86_OP_REG && op->reg == reg;
}

/*
 * mov (but from %rbp), xchg, pop to the stack pointer, or lea from a register that no prologue
 * keeps a frame by.
 */
static bool loads_sp(const cs_insn *insn)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0], *from = to + 1;
	x86_reg base = from->type == X86_OP_MEM ? from->mem.base : X86_REG_INVALID;

	switch (insn->id) {
	case X86_INS_MOV:
		return is_reg(to, X86_REG_RSP) && !is_reg(from, X86_REG_RBP);
	case X86_INS_XCHG:
		return is_reg(to, X86_REG_RSP) || is_reg(from, X86_REG_RSP);
	case X86_INS_POP:
		return is_reg(to, X86_REG_RSP);
	case X86_INS_LEA:
		return is_reg(to, X86_REG_RSP) && base != X86_REG_RBP && base != X86_REG_RSP &&
		       base != X86_REG_R10;
	default:
		return false;
	}
}

static bool decode_at(struct mt_disasm *disasm, uint64_t address, const uint8_t *code, size_t size,
		      struct mt_insn *out)
{
	if (!cs_disasm_iter(disasm->handle, &code, &size, &address, disasm->insn))
		return false;
	*out = (struct mt_insn){
		.kind = kind_of(disasm),
		.size = (uint8_t)disasm->insn->size,
		.loads_sp = loads_sp(disasm->insn),
	};
	return true;
}

static bool decode(void *context, const uint8_t *code, size_t size, struct mt_insn *out)
{
	return decode_at(context, 0, code, size, out);
}

struct mt_decoder mt_disasm_decoder(struct mt_disasm *disasm)
{
	return (struct mt_decoder){
		.context = disasm, .ready = disasm ? is_ready : NULL, .decode = decode};
}

bool mt_disasm_print(struct mt_disasm *disasm, bool att, uint64_t address, const uint8_t *code,
		     size_t size, struct mt_insn_text *out)
{
	const cs_insn *insn;

	if (!is_ready(disasm))
		return false;
	cs_option(disasm->handle, CS_OPT_SYNTAX, att ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	if (!decode_at(disasm, address, code, size, &out->insn))
		return false;
	insn = disasm->insn;
	out->target =
		out->insn.kind == MT_INSN_CALL ? (uint64_t)insn->detail->x86.operands[0].imm : 0;
	snprintf(out->text, sizeof(out->text), *insn->op_str ? "%-7s %s" : "%s%s", insn->mnemonic,
		 insn->op_str);
	return true;
}
