/*
 * Instructions by capstone. Without it every instruction is unknown, which those who ask have to
 * expect anyway: code bytes are often not at hand. It is loaded when the first one is asked for:
 * few reports do, and to start with it costs 1.3 ms, for the 80 thousand pointers in its tables.
 */
#include "symbols/disasm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>

#define TEXT(x) #x
#define LIBRARY(version) "libcapstone.so." TEXT(version)

struct mt_disasm {
	bool tried;
	char problem[256]; /* or empty */
	void *library;
	__typeof__(&cs_open) open;
	__typeof__(&cs_close) close;
	__typeof__(&cs_option) option;
	__typeof__(&cs_malloc) make_insn;
	__typeof__(&cs_free) free_insn;
	__typeof__(&cs_disasm_iter) next;
	__typeof__(&cs_insn_group) in_group;
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
		disasm->free_insn(disasm->insn, 1);
	if (disasm->handle)
		disasm->close(&disasm->handle);
	if (disasm->library)
		dlclose(disasm->library);
	free(disasm);
}

static bool load_function(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

static bool load(struct mt_disasm *d)
{
	void *l = d->library = dlopen(LIBRARY(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);

	return l && load_function(l, "cs_open", &d->open) &&
	       load_function(l, "cs_close", &d->close) &&
	       load_function(l, "cs_option", &d->option) &&
	       load_function(l, "cs_malloc", &d->make_insn) &&
	       load_function(l, "cs_free", &d->free_insn) &&
	       load_function(l, "cs_disasm_iter", &d->next) &&
	       load_function(l, "cs_insn_group", &d->in_group);
}

/* Why there is nothing to decode by, once that was tried. */
static void tell_problem(struct mt_disasm *disasm)
{
	const char *why = dlerror();

	snprintf(disasm->problem, sizeof(disasm->problem), "%s",
		 why ? why : LIBRARY(CS_API_MAJOR) " does not work");
}

/* The library where there is one, once; false without. */
static bool is_ready(void *context)
{
	struct mt_disasm *disasm = context;

	if (disasm->tried)
		return disasm->insn;
	disasm->tried = true;
	if (load(disasm) && disasm->open(CS_ARCH_X86, CS_MODE_64, &disasm->handle) == CS_ERR_OK) {
		disasm->option(disasm->handle, CS_OPT_DETAIL, CS_OPT_ON);
		disasm->insn = disasm->make_insn(disasm->handle);
	} else {
		disasm->handle = 0;
	}
	if (!disasm->insn)
		tell_problem(disasm);
	return disasm->insn;
}

const char *mt_disasm_problem(const struct mt_disasm *disasm)
{
	return disasm && disasm->problem[0] ? disasm->problem : NULL;
}

static bool is_indirect(const cs_x86 *x86)
{
	return x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM;
}

static bool in_group(const struct mt_disasm *disasm, unsigned int group)
{
	return disasm->in_group(disasm->handle, disasm->insn, group);
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

static bool decode(void *context, const uint8_t *code, size_t size, struct mt_insn *out)
{
	struct mt_disasm *disasm = context;
	uint64_t address = 0;

	if (!disasm->next(disasm->handle, &code, &size, &address, disasm->insn))
		return false;
	*out = (struct mt_insn){
		.kind = kind_of(disasm),
		.size = (uint8_t)disasm->insn->size,
		.loads_sp = loads_sp(disasm->insn),
	};
	return true;
}

#else

struct mt_disasm {
	bool asked;
};

struct mt_disasm *mt_disasm_create(void)
{
	return calloc(1, sizeof(struct mt_disasm));
}

void mt_disasm_destroy(struct mt_disasm *disasm)
{
	free(disasm);
}

const char *mt_disasm_problem(const struct mt_disasm *disasm)
{
	return disasm && disasm->asked ? "built without capstone" : NULL;
}

static bool is_ready(void *context)
{
	struct mt_disasm *disasm = context;

	disasm->asked = true;
	return false;
}

static bool decode(void *context, const uint8_t *code, size_t size, struct mt_insn *out)
{
	(void)context;
	(void)code;
	(void)size;
	(void)out;
	return false;
}

#endif

struct mt_decoder mt_disasm_decoder(struct mt_disasm *disasm)
{
	return (struct mt_decoder){
		.context = disasm, .ready = disasm ? is_ready : NULL, .decode = decode};
}
