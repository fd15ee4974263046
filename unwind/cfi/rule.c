/*
 * Converts CFI rows to compact rules; recognizes the few expressions that compilers, linkers and
 * the C library emit.
 */
#include "unwind/cfi/rule.h"

#include "formats/base/cursor.h"
#include "unwind/cfi/cfi.h"
#include "unwind/cfi/dwarf_expr.h"

enum {
	OP_DEREF = 0x06,
	OP_BREG0 = 0x70,
};

/*
 * Offsets of the registers in the kernel's signal frame, relative to the slot of rsp: the ABI's
 * struct sigcontext.
 */
enum {
	SIGNAL_RIP = 8,
	SIGNAL_RBP = -40,
};

/* Matches an expression that is only `breg REG offset`, followed by `deref` if requested. */
static bool match_breg(const struct mt_cfi_rule *rule, unsigned int reg, bool deref,
		       int64_t *offset)
{
	struct mt_cursor c = mt_cursor_init(rule->expression, rule->expression_size);

	if (mt_cursor_u8(&c) != OP_BREG0 + reg)
		return false;
	*offset = mt_cursor_sleb(&c);
	if (deref && mt_cursor_u8(&c) != OP_DEREF)
		return false;
	return !c.bad && !mt_cursor_left(&c);
}

static bool set_offset(struct mt_rule *out, enum mt_rule_kind kind, int64_t offset)
{
	if (offset < INT32_MIN || offset > INT32_MAX)
		return false;
	out->kind = (uint8_t)kind;
	out->offset = (int32_t)offset;
	return true;
}

static bool eval_at(const struct mt_cfi_rule *cfa, uint64_t pc, uint64_t sp, uint64_t *out)
{
	const struct mt_dump nothing = {0};
	struct mt_unwind_regs regs = {.valid = 1u << MT_DWARF_RSP | 1u << MT_DWARF_RIP};
	const struct mt_dwarf_expr expr = {.bytes = cfa->expression,
					   .size = cfa->expression_size,
					   .regs = &regs,
					   .dump = &nothing};

	regs.value[MT_DWARF_RSP] = sp;
	regs.value[MT_DWARF_RIP] = pc;
	return mt_dwarf_expr_eval(&expr, out);
}

/*
 * The CFA of a PLT only depends on sp and pc. For a given pc, it is sp plus a constant. Evaluates
 * the CFA for two values of sp to find the constant and check this.
 */
static bool plt_cfa(const struct mt_cfi_rule *cfa, uint64_t pc, struct mt_rule *out)
{
	const uint64_t low = 0x10000, high = 0x7ffffff00000;
	uint64_t first, second;

	return eval_at(cfa, pc, low, &first) && eval_at(cfa, pc, high, &second) &&
	       first - low == second - high && set_offset(out, MT_RULE_SP, (int64_t)(first - low));
}

static bool cfa_rule(const struct mt_cfi_rule *cfa, uint64_t pc, struct mt_rule *out)
{
	int64_t offset;

	if (cfa->kind == MT_CFI_REGISTER) {
		if (cfa->reg != MT_DWARF_RSP && cfa->reg != MT_DWARF_RBP)
			return false;
		return set_offset(out, cfa->reg == MT_DWARF_RSP ? MT_RULE_SP : MT_RULE_FP,
				  cfa->offset);
	}
	if (match_breg(cfa, MT_DWARF_RBP, true, &offset))
		return set_offset(out, MT_RULE_FP_DEREF, offset);
	return plt_cfa(cfa, pc, out);
}

static bool fp_slot(struct mt_rule *out, enum mt_rule_fp from, int64_t offset)
{
	if (offset % 8 || offset / 8 < INT16_MIN || offset / 8 > INT16_MAX)
		return false;
	out->fp = (uint8_t)from;
	out->fp_slot = (int16_t)(offset / 8);
	return true;
}

static bool fp_rule(const struct mt_cfi_rule *rbp, struct mt_rule *out)
{
	int64_t offset;

	switch (rbp->kind) {
	case MT_CFI_UNSPECIFIED:
	case MT_CFI_SAME:
		out->fp = MT_RULE_FP_SAME;
		return true;
	case MT_CFI_OFFSET:
		return fp_slot(out, MT_RULE_FP_AT_CFA, rbp->offset);
	case MT_CFI_EXPRESSION:
		return match_breg(rbp, MT_DWARF_RBP, false, &offset) &&
		       fp_slot(out, MT_RULE_FP_AT_FP, offset);
	default:
		return false;
	}
}

static bool sp_is_cfa(const struct mt_cfi_rule *rsp)
{
	return rsp->kind == MT_CFI_UNSPECIFIED ||
	       (rsp->kind == MT_CFI_VAL_OFFSET && rsp->offset == 0);
}

/*
 * Recognizes the signal return of the C library and the vdso: every register is in the kernel's
 * frame, at known offsets.
 */
static bool signal_rule(const struct mt_cfi_row *row, struct mt_rule *out)
{
	const struct mt_cfi_rule *pc = &row->reg[MT_DWARF_RIP], *fp = &row->reg[MT_DWARF_RBP];
	const struct mt_cfi_rule *sp = &row->reg[MT_DWARF_RSP];
	int64_t cfa_at, pc_at, fp_at, sp_at;

	if (!row->signal || row->cfa.kind != MT_CFI_VAL_EXPRESSION ||
	    pc->kind != MT_CFI_EXPRESSION || fp->kind != MT_CFI_EXPRESSION ||
	    !match_breg(&row->cfa, MT_DWARF_RSP, true, &cfa_at) ||
	    !match_breg(pc, MT_DWARF_RSP, false, &pc_at) ||
	    !match_breg(fp, MT_DWARF_RSP, false, &fp_at))
		return false;
	if (sp->kind != MT_CFI_UNSPECIFIED &&
	    (sp->kind != MT_CFI_EXPRESSION || !match_breg(sp, MT_DWARF_RSP, false, &sp_at) ||
	     sp_at != cfa_at))
		return false;
	return pc_at == cfa_at + SIGNAL_RIP && fp_at == cfa_at + SIGNAL_RBP &&
	       set_offset(out, MT_RULE_SIGNAL, cfa_at);
}

struct mt_rule mt_rule_from_row(const struct mt_cfi_row *row, uint64_t pc)
{
	const struct mt_cfi_rule *ra = &row->reg[MT_DWARF_RIP];
	struct mt_rule rule = {.kind = MT_RULE_SLOW};

	if (ra->kind == MT_CFI_UNDEFINED)
		return (struct mt_rule){.kind = MT_RULE_END};
	if (row->signal) {
		signal_rule(row, &rule);
		return rule;
	}
	if (ra->kind != MT_CFI_OFFSET || ra->offset != -8 || !sp_is_cfa(&row->reg[MT_DWARF_RSP]) ||
	    !cfa_rule(&row->cfa, pc, &rule) || !fp_rule(&row->reg[MT_DWARF_RBP], &rule))
		return (struct mt_rule){.kind = MT_RULE_SLOW};
	return rule;
}
