/* Decodes instructions with capstone, which is loaded on first use: few reports read code. */
#include "symbols/images/disasm.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols/images/shared_library.h"

/* As `functions` names them. */
struct capstone {
	__typeof__(&cs_open) open;
	__typeof__(&cs_close) close;
	__typeof__(&cs_option) option;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_free) free;
	__typeof__(&cs_disasm_iter) disasm_iter;
	__typeof__(&cs_insn_group) insn_group;
};

static const char *const functions[] = {
	"cs_open", "cs_close",	     "cs_option",     "cs_malloc",
	"cs_free", "cs_disasm_iter", "cs_insn_group", NULL,
};

_Static_assert(sizeof(functions) == sizeof(struct capstone) + sizeof(char *), "a name for each");

#define TEXT(number) #number
#define LIBRARY(major) "libcapstone.so." TEXT(major)

static const struct mt_shared_library capstone_library = {LIBRARY(CS_API_MAJOR), functions};

struct mt_disasm {
	bool tried;
	void *library; /* NULL: not loaded */
	struct capstone cs;
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
		disasm->cs.free(disasm->insn, 1);
	if (disasm->handle)
		disasm->cs.close(&disasm->handle);
	mt_shared_library_unload(disasm->library);
	free(disasm);
}

/* Opens capstone, once; false where it is not there, or no memory for it. */
static bool is_ready(void *context)
{
	struct mt_disasm *disasm = context;

	if (disasm->tried)
		return disasm->insn;
	disasm->tried = true;
	disasm->library = mt_shared_library_load(&capstone_library, &disasm->cs);
	if (!disasm->library)
		return false;
	if (disasm->cs.open(CS_ARCH_X86, CS_MODE_64, &disasm->handle) != CS_ERR_OK) {
		disasm->handle = 0;
		return false;
	}
	disasm->cs.option(disasm->handle, CS_OPT_DETAIL, CS_OPT_ON);
	disasm->insn = disasm->cs.malloc(disasm->handle);
	return disasm->insn;
}

const char *mt_disasm_problem(struct mt_disasm *disasm)
{
	(void)is_ready(disasm);
	return disasm->library
		       ? NULL
		       : LIBRARY(CS_API_MAJOR) ", which decodes instructions, cannot be loaded";
}

static bool is_indirect(const cs_x86 *x86)
{
	return x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM;
}

static bool in_group(const struct mt_disasm *disasm, unsigned int group)
{
	return disasm->cs.insn_group(disasm->handle, disasm->insn, group);
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
	if (!disasm->cs.disasm_iter(disasm->handle, &code, &size, &address, disasm->insn))
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
	disasm->cs.option(disasm->handle, CS_OPT_SYNTAX,
			  att ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	if (!decode_at(disasm, address, code, size, &out->insn))
		return false;
	insn = disasm->insn;
	out->target =
		out->insn.kind == MT_INSN_CALL ? (uint64_t)insn->detail->x86.operands[0].imm : 0;
	snprintf(out->text, sizeof(out->text), *insn->op_str ? "%-7s %s" : "%s%s", insn->mnemonic,
		 insn->op_str);
	return true;
}
