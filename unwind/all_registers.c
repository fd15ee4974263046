/*
 * The step with all registers, for rows that do not fit a compact rule. The fast path only restores
 * pc, sp and fp. At a row that does not fit, the frames so far are unwound again with all
 * registers, from the sample's registers or from the last step with all registers.
 */
#include <string.h>

#include "symbols/images/image_map.h"
#include "unwind/cfi/dwarf_expr.h"
#include "unwind/lookup.h"
#include "unwind/walk.h"

#define BIT(reg) (1u << (reg))

/*
 * Registers that a callee preserves by the ABI. If CFI does not specify them, they are unchanged;
 * other registers are lost in a call.
 */
#define PRESERVED (BIT(MT_DWARF_RBX) | BIT(MT_DWARF_RBP) | 0xfu << MT_DWARF_R12)

struct step {
	struct mt_walk *walk;
	const struct mt_cfi_row *row;
	const struct mt_unwind_regs *from;
	struct mt_unwind_regs to;
	uint64_t cfa;
	uint64_t unread; /* address of the return address if it cannot be read */
};

static void set_reg(struct mt_unwind_regs *regs, unsigned int reg, uint64_t value)
{
	regs->value[reg] = value;
	regs->valid |= BIT(reg);
}

static bool get_reg(const struct mt_unwind_regs *regs, unsigned int reg, uint64_t *value)
{
	if (reg >= MT_UNWIND_REGS || !(regs->valid & BIT(reg)))
		return false;
	*value = regs->value[reg];
	return true;
}

static bool eval(const struct step *s, const struct mt_cfi_rule *rule, const uint64_t *cfa,
		 uint64_t *out)
{
	const struct mt_dwarf_expr expr = {.bytes = rule->expression,
					   .size = rule->expression_size,
					   .regs = s->from,
					   .dump = &s->walk->dump,
					   .cfa = cfa};

	return mt_dwarf_expr_eval(&expr, out);
}

static bool find_cfa(struct step *s)
{
	const struct mt_cfi_rule *cfa = &s->row->cfa;
	uint64_t base;

	if (cfa->kind == MT_CFI_VAL_EXPRESSION)
		return eval(s, cfa, NULL, &s->cfa);
	if (!get_reg(s->from, cfa->reg, &base))
		return false;
	s->cfa = base + (uint64_t)cfa->offset;
	return true;
}

/*
 * Reads a saved register. If its slot is below the dump, it has been popped, and the register has
 * the caller's value again.
 */
static void load(struct step *s, unsigned int reg, uint64_t address)
{
	uint64_t value;

	if (mt_dump_read(&s->walk->dump, address, &value))
		set_reg(&s->to, reg, value);
	else if (reg == MT_DWARF_RIP)
		s->unread = address;
	else if (address < s->walk->dump.start && get_reg(s->from, reg, &value))
		set_reg(&s->to, reg, value);
}

static void unspecified(struct step *s, unsigned int reg)
{
	uint64_t value;

	if (reg == MT_DWARF_RSP)
		set_reg(&s->to, reg, s->cfa);
	else if ((PRESERVED & BIT(reg)) && get_reg(s->from, reg, &value))
		set_reg(&s->to, reg, value);
}

/*
 * In the epilogue of a realigned frame, CFI still locates rbp at rbp + 0 after rbp has been popped.
 * rbp is then that of the caller, and so not below the CFA.
 */
static void restore_from_expression(struct step *s, unsigned int reg,
				    const struct mt_cfi_rule *rule)
{
	const uint8_t breg6 = 0x70 + MT_DWARF_RBP;
	uint64_t value;

	if (reg == MT_DWARF_RBP && rule->expression_size && rule->expression[0] == breg6 &&
	    get_reg(s->from, reg, &value) && value >= s->cfa)
		set_reg(&s->to, reg, value);
	else if (eval(s, rule, &s->cfa, &value))
		load(s, reg, value);
}

static void restore(struct step *s, unsigned int reg, const struct mt_cfi_rule *rule)
{
	uint64_t value;

	switch (rule->kind) {
	case MT_CFI_UNSPECIFIED:
		unspecified(s, reg);
		break;
	case MT_CFI_SAME:
		if (get_reg(s->from, reg, &value))
			set_reg(&s->to, reg, value);
		break;
	case MT_CFI_OFFSET:
		load(s, reg, s->cfa + (uint64_t)rule->offset);
		break;
	case MT_CFI_VAL_OFFSET:
		set_reg(&s->to, reg, s->cfa + (uint64_t)rule->offset);
		break;
	case MT_CFI_REGISTER:
		if (get_reg(s->from, rule->reg, &value))
			set_reg(&s->to, reg, value);
		break;
	case MT_CFI_EXPRESSION:
		restore_from_expression(s, reg, rule);
		break;
	case MT_CFI_VAL_EXPRESSION:
		if (eval(s, rule, &s->cfa, &value))
			set_reg(&s->to, reg, value);
		break;
	default: /* MT_CFI_UNDEFINED */
		break;
	}
}

/*
 * Checks the change of the stack pointer. The stack pointer must rise. It may be unchanged if the
 * return address is in a register, and may have any value if CFI sets it, as for a signal frame or
 * longjmp.
 */
static int check_sp(struct mt_walk *walk, const struct step *s)
{
	uint64_t from = s->from->value[MT_DWARF_RSP], to = s->to.value[MT_DWARF_RSP];
	bool set = s->row->signal || s->row->reg[MT_DWARF_RSP].kind != MT_CFI_UNSPECIFIED;
	bool ra_in_memory = s->row->reg[MT_DWARF_RIP].kind == MT_CFI_OFFSET;

	if (to > from && (!set || to - walk->dump.start < walk->dump.size))
		return MT_WALK_ON;
	if (!set && (to != from || ra_in_memory))
		return MT_END_LOOP;
	return mt_walk_switch(walk) ? MT_WALK_ON : MT_END_LOOP;
}

static int check_pc(struct step *s)
{
	uint64_t pc;

	if (s->row->reg[MT_DWARF_RIP].kind == MT_CFI_UNDEFINED)
		return MT_END_ROOT;
	if (s->unread) {
		s->walk->boundary = s->unread == s->cfa - 8 ? s->cfa : 0;
		return mt_walk_unreadable(s->walk, s->unread);
	}
	if (!get_reg(&s->to, MT_DWARF_RIP, &pc))
		return MT_END_BAD_CFA;
	if (!pc)
		return MT_END_ROOT;
	return mt_pc_plausible(pc) ? MT_WALK_ON : MT_END_BAD_CFA;
}

/* Applies a row to *regs, which stay unchanged if the step fails. */
static int apply_row(struct mt_walk *walk, const struct mt_cfi_row *row,
		     struct mt_unwind_regs *regs)
{
	struct step s = {.walk = walk, .row = row, .from = regs};
	int end;

	if (row->reg[MT_DWARF_RIP].kind == MT_CFI_UNDEFINED)
		return MT_END_ROOT;
	if (!walk->dump.size)
		return MT_END_NO_DUMP;
	if (!find_cfa(&s))
		return MT_END_BAD_CFA;
	for (unsigned int reg = 0; reg < MT_CFI_REGISTERS; reg++)
		restore(&s, reg, &row->reg[reg]);
	end = check_pc(&s);
	if (end != MT_WALK_ON)
		return end;
	if (!(s.to.valid & BIT(MT_DWARF_RSP)))
		return MT_END_BAD_CFA;
	end = check_sp(walk, &s);
	if (end == MT_WALK_ON)
		*regs = s.to;
	return end;
}

/* Reads the kernel's struct sigcontext, which begins 120 bytes before the slot of rsp. */
static int apply_signal(struct mt_walk *walk, struct mt_rule rule, struct mt_unwind_regs *regs)
{
	static const uint8_t order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};
	uint64_t base = regs->value[MT_DWARF_RSP] + (uint64_t)(int64_t)rule.offset - 120, value;
	struct mt_unwind_regs to = {0};

	for (size_t i = 0; i < sizeof(order); i++) {
		if (!mt_dump_read(&walk->dump, base + i * 8, &value))
			return mt_walk_unreadable(walk, base + i * 8);
		set_reg(&to, order[i], value);
	}
	*regs = to;
	return MT_WALK_ON;
}

static int apply_fp(struct mt_walk *walk, bool call_return, struct mt_unwind_regs *regs)
{
	const struct mt_position at = {.pc = regs->value[MT_DWARF_RIP],
				       .sp = regs->value[MT_DWARF_RSP],
				       .fp = regs->value[MT_DWARF_RBP]};
	struct mt_position next;

	if (!(regs->valid & BIT(MT_DWARF_RBP)) || !mt_fp_step(walk, &at, call_return, &next))
		return MT_END_NO_CFI;
	regs->valid = 0;
	set_reg(regs, MT_DWARF_RIP, next.pc);
	set_reg(regs, MT_DWARF_RSP, next.sp);
	set_reg(regs, MT_DWARF_RBP, next.fp);
	return MT_WALK_ON;
}

/* Makes one step of *regs. call_return: pc is a return address. *signal: it is a signal frame. */
static int step(struct mt_walk *walk, struct mt_unwind_regs *regs, bool call_return, bool *signal)
{
	uint64_t pc = regs->value[MT_DWARF_RIP];
	struct mt_rule rule = mt_walk_rule(walk, pc, call_return);
	struct mt_cfi_row row;
	int end;

	*signal = rule.kind == MT_RULE_SIGNAL;
	if (*signal)
		return apply_signal(walk, rule, regs);
	if (mt_lookup_row(walk->input->map, pc - call_return, &row, &end) != MT_CFI_FOUND) {
		if (rule.kind != MT_RULE_SP)
			return apply_fp(walk, call_return, regs);
		memset(&row, 0, sizeof(row)); /* a rule for a PLT without CFI */
		row.cfa = (struct mt_cfi_rule){
			.kind = MT_CFI_REGISTER, .reg = MT_DWARF_RSP, .offset = rule.offset};
		row.reg[MT_DWARF_RIP] = (struct mt_cfi_rule){.kind = MT_CFI_OFFSET, .offset = -8};
	}
	*signal = row.signal;
	return apply_row(walk, &row, regs);
}

/* Unwinds walk->regs up to the newest frame. */
static int catch_up(struct mt_walk *walk)
{
	const struct mt_frame *frames = walk->stack->frames;
	unsigned int switches = walk->switches;
	int end = MT_WALK_ON;
	bool signal;

	if (!walk->have_regs) {
		walk->regs = walk->input->regs;
		walk->regs_frame = walk->first;
		walk->have_regs = true;
	}
	while (end == MT_WALK_ON && walk->regs_frame + 1 < walk->stack->count) {
		walk->switches = 0;
		end = step(walk, &walk->regs, frames[walk->regs_frame].call_return, &signal);
		walk->regs_frame++;
	}
	walk->switches = switches;
	if (end != MT_WALK_ON)
		return end;
	return walk->regs.value[MT_DWARF_RIP] == walk->at.pc &&
			       walk->regs.value[MT_DWARF_RSP] == walk->at.sp
		       ? MT_WALK_ON
		       : MT_END_BAD_CFA;
}

int mt_all_registers_step(struct mt_walk *walk)
{
	bool signal;
	int end = catch_up(walk);

	walk->unwinder->counts.slow_steps++;
	if (end == MT_WALK_ON)
		end = step(walk, &walk->regs, walk->call_return, &signal);
	if (end != MT_WALK_ON)
		return end;
	walk->regs_frame++;
	walk->at = (struct mt_position){.pc = walk->regs.value[MT_DWARF_RIP],
					.sp = walk->regs.value[MT_DWARF_RSP]};
	get_reg(&walk->regs, MT_DWARF_RBP, &walk->at.fp);
	walk->source = MT_FRAME_CFI;
	walk->call_return = !signal;
	return MT_WALK_ON;
}
