/*
 * Decodes instructions with capstone, which is loaded on first use, because few reports read code.
 */
#include "symbols/images/disasm.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/base/memory.h"
#include "symbols/images/shared_library.h"

/* In the order of `functions`. */
struct capstone {
	__typeof__(&cs_open) open;
	__typeof__(&cs_close) close;
	__typeof__(&cs_option) option;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_free) free;
	__typeof__(&cs_disasm_iter) disasm_iter;
};

static const char *const functions[] = {
	"cs_open", "cs_close", "cs_option", "cs_malloc", "cs_free", "cs_disasm_iter", NULL,
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
	cs_insn *insn; /* NULL: cannot decode */
};

struct mt_disasm *mt_disasm_create(void)
{
	return mt_alloc(1, sizeof(struct mt_disasm));
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

/* Opens capstone once; false if it is missing, or out of memory. */
static bool is_ready(struct mt_disasm *disasm)
{
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

static bool is_direct(const cs_x86 *x86)
{
	return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
}

bool mt_disasm_print(struct mt_disasm *disasm, bool att, uint64_t address, const uint8_t *code,
		     size_t size, struct mt_insn_text *out)
{
	const cs_insn *insn = NULL;

	if (is_ready(disasm))
		insn = disasm->insn;
	if (!insn)
		return false;
	disasm->cs.option(disasm->handle, CS_OPT_SYNTAX,
			  att ? CS_OPT_SYNTAX_ATT : CS_OPT_SYNTAX_INTEL);
	if (!disasm->cs.disasm_iter(disasm->handle, &code, &size, &address, disasm->insn))
		return false;
	out->size = (uint8_t)insn->size;
	out->is_syscall = insn->id == X86_INS_SYSCALL || insn->id == X86_INS_SYSENTER;
	out->target = insn->id == X86_INS_CALL && is_direct(&insn->detail->x86)
			      ? (uint64_t)insn->detail->x86.operands[0].imm
			      : 0;
	snprintf(out->text, sizeof(out->text), *insn->op_str ? "%-7s %s" : "%s%s", insn->mnemonic,
		 insn->op_str);
	return true;
}
