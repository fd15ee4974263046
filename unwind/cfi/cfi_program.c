/*
 * Runs call frame instructions: those of the CIE, then those of the FDE until the location passes
 * the requested address. Vector and control registers are parsed and ignored. Each instruction runs
 * once.
 */
#include "unwind/cfi/cfi_program.h"

#include <string.h>

#include "formats/base/cursor.h"
#include "symbols/elf/cfi_entry.h"
#include "unwind/cfi/cfi.h"

enum {
	CFA_ADVANCE_LOC = 0x40, /* this and the next two have an operand in the low six bits */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_MIPS_ADVANCE_LOC8 = 0x1d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* Maximum depth of remembered states. Compilers nest one or two; assembly code with four exists. */
#define STATES_MAX 16

struct machine {
	const struct mt_cfi_section *section;
	const struct mt_cfi_fde *fde;
	struct mt_cursor c;
	struct mt_cfi_row *row;
	const struct mt_cfi_row *initial; /* NULL while the program of the CIE runs */
	uint64_t location, target;
	unsigned int depth;
	struct mt_cfi_row states[STATES_MAX];
};

enum outcome {
	GO_ON,
	REACHED, /* the row for the target is complete */
	BROKEN,
};

static struct mt_cfi_rule *rule_of(struct machine *m, uint64_t reg, struct mt_cfi_rule *dropped)
{
	return reg < MT_CFI_REGISTERS ? &m->row->reg[reg] : dropped;
}

static void set_rule(struct machine *m, uint64_t reg, enum mt_cfi_rule_kind kind, int64_t offset)
{
	struct mt_cfi_rule dropped;

	*rule_of(m, reg, &dropped) = (struct mt_cfi_rule){.kind = (uint8_t)kind, .offset = offset};
}

static int64_t factored(const struct machine *m, uint64_t offset)
{
	return (int64_t)(offset * (uint64_t)m->fde->cie.data_align);
}

static struct mt_cfi_rule read_block(struct machine *m, enum mt_cfi_rule_kind kind)
{
	uint64_t size = mt_cursor_uleb(&m->c);
	const uint8_t *bytes = mt_cursor_bytes(&m->c, size);

	if (size > UINT32_MAX)
		m->c.bad = true;
	return (struct mt_cfi_rule){
		.kind = (uint8_t)kind, .expression_size = (uint32_t)size, .expression = bytes};
}

static enum outcome advance(struct machine *m, uint64_t delta)
{
	uint64_t scaled = delta * m->fde->cie.code_align;

	if (m->c.bad || !m->initial)
		return m->c.bad ? BROKEN : GO_ON;
	if (__builtin_add_overflow(m->location, scaled, &m->location))
		return BROKEN;
	return m->location > m->target ? REACHED : GO_ON;
}

static enum outcome set_location(struct machine *m)
{
	uint64_t location;

	if (!mt_cfi_pointer_read(&m->c, m->fde->cie.encoding, m->section, m->fde->start,
				 &location) ||
	    location < m->location)
		return BROKEN;
	m->location = location;
	return location > m->target ? REACHED : GO_ON;
}

static enum outcome remember(struct machine *m)
{
	if (m->depth == STATES_MAX)
		return BROKEN;
	m->states[m->depth++] = *m->row;
	return GO_ON;
}

static enum outcome restore_state(struct machine *m)
{
	if (!m->depth)
		return BROKEN;
	*m->row = m->states[--m->depth];
	return GO_ON;
}

static enum outcome restore(struct machine *m, uint64_t reg)
{
	if (!m->initial)
		return BROKEN;
	if (reg < MT_CFI_REGISTERS)
		m->row->reg[reg] = m->initial->reg[reg];
	return GO_ON;
}

static enum outcome define_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg > UINT16_MAX)
		return BROKEN;
	m->row->cfa = (struct mt_cfi_rule){
		.kind = MT_CFI_REGISTER, .reg = (uint16_t)reg, .offset = offset};
	return GO_ON;
}

/* Changes the offset or register of the CFA, which must have the form register + offset. */
static enum outcome amend_cfa(struct machine *m, uint8_t op)
{
	struct mt_cfi_rule *cfa = &m->row->cfa;

	if (cfa->kind != MT_CFI_REGISTER)
		return BROKEN;
	if (op == CFA_DEF_CFA_REGISTER)
		return define_cfa(m, mt_cursor_uleb(&m->c), cfa->offset);
	if (op == CFA_DEF_CFA_OFFSET)
		cfa->offset = (int64_t)mt_cursor_uleb(&m->c);
	else
		cfa->offset = factored(m, (uint64_t)mt_cursor_sleb(&m->c));
	return GO_ON;
}

static enum outcome cfa_op(struct machine *m, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = mt_cursor_uleb(&m->c);
		return define_cfa(m, reg, (int64_t)mt_cursor_uleb(&m->c));
	case CFA_DEF_CFA_SF:
		reg = mt_cursor_uleb(&m->c);
		return define_cfa(m, reg, factored(m, (uint64_t)mt_cursor_sleb(&m->c)));
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
		return amend_cfa(m, op);
	case CFA_DEF_CFA_EXPRESSION:
		m->row->cfa = read_block(m, MT_CFI_VAL_EXPRESSION);
		return GO_ON;
	default:
		return BROKEN;
	}
}

static enum outcome register_register(struct machine *m, uint64_t reg)
{
	struct mt_cfi_rule dropped, *rule = rule_of(m, reg, &dropped);
	uint64_t from = mt_cursor_uleb(&m->c);

	if (from > UINT16_MAX)
		return BROKEN;
	*rule = (struct mt_cfi_rule){.kind = MT_CFI_REGISTER, .reg = (uint16_t)from};
	return GO_ON;
}

static enum outcome register_block(struct machine *m, uint64_t reg, enum mt_cfi_rule_kind kind)
{
	struct mt_cfi_rule dropped;

	*rule_of(m, reg, &dropped) = read_block(m, kind);
	return GO_ON;
}

static enum outcome register_offset_op(struct machine *m, uint8_t op, uint64_t reg)
{
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_rule(m, reg, MT_CFI_OFFSET, factored(m, mt_cursor_uleb(&m->c)));
		return GO_ON;
	case CFA_OFFSET_EXTENDED_SF:
		set_rule(m, reg, MT_CFI_OFFSET, factored(m, (uint64_t)mt_cursor_sleb(&m->c)));
		return GO_ON;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_rule(m, reg, MT_CFI_OFFSET, factored(m, -mt_cursor_uleb(&m->c)));
		return GO_ON;
	case CFA_VAL_OFFSET:
		set_rule(m, reg, MT_CFI_VAL_OFFSET, factored(m, mt_cursor_uleb(&m->c)));
		return GO_ON;
	case CFA_VAL_OFFSET_SF:
		set_rule(m, reg, MT_CFI_VAL_OFFSET, factored(m, (uint64_t)mt_cursor_sleb(&m->c)));
		return GO_ON;
	default:
		return cfa_op(m, op);
	}
}

/* Runs an operation whose first operand is a register. */
static enum outcome register_op(struct machine *m, uint8_t op)
{
	struct mt_cursor before = m->c;
	uint64_t reg = mt_cursor_uleb(&m->c);

	switch (op) {
	case CFA_RESTORE_EXTENDED:
		return restore(m, reg);
	case CFA_UNDEFINED:
		set_rule(m, reg, MT_CFI_UNDEFINED, 0);
		return GO_ON;
	case CFA_SAME_VALUE:
		set_rule(m, reg, MT_CFI_SAME, 0);
		return GO_ON;
	case CFA_REGISTER:
		return register_register(m, reg);
	case CFA_EXPRESSION:
		return register_block(m, reg, MT_CFI_EXPRESSION);
	case CFA_VAL_EXPRESSION:
		return register_block(m, reg, MT_CFI_VAL_EXPRESSION);
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		m->c = before;
		return cfa_op(m, op);
	default:
		return register_offset_op(m, op, reg);
	}
}

static enum outcome extended_op(struct machine *m, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
		return GO_ON;
	case CFA_SET_LOC:
		return set_location(m);
	case CFA_ADVANCE_LOC1:
		return advance(m, mt_cursor_u8(&m->c));
	case CFA_ADVANCE_LOC2:
		return advance(m, mt_cursor_u16(&m->c));
	case CFA_ADVANCE_LOC4:
		return advance(m, mt_cursor_u32(&m->c));
	case CFA_MIPS_ADVANCE_LOC8:
		return advance(m, mt_cursor_u64(&m->c));
	case CFA_REMEMBER_STATE:
		return remember(m);
	case CFA_RESTORE_STATE:
		return restore_state(m);
	case CFA_GNU_ARGS_SIZE:
		mt_cursor_uleb(&m->c);
		return GO_ON;
	default:
		return register_op(m, op);
	}
}

static enum outcome run(struct machine *m, struct mt_cursor program)
{
	enum outcome outcome = GO_ON;

	m->c = program;
	while (outcome == GO_ON && mt_cursor_left(&m->c)) {
		uint8_t op = mt_cursor_u8(&m->c), low = op & 0x3f;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC:
			outcome = advance(m, low);
			break;
		case CFA_OFFSET:
			set_rule(m, low, MT_CFI_OFFSET, factored(m, mt_cursor_uleb(&m->c)));
			break;
		case CFA_RESTORE:
			outcome = restore(m, low);
			break;
		default:
			outcome = extended_op(m, op);
		}
	}
	return m->c.bad ? BROKEN : outcome;
}

/* Initializes the machine, and runs the program of the CIE. False if the program is malformed. */
static bool begin(struct machine *m, const struct mt_cfi_section *section,
		  const struct mt_cfi_fde *fde, struct mt_cfi_row *row, struct mt_cfi_row *initial)
{
	/* The states are not cleared: they are large, and are written before they are read. */
	m->section = section;
	m->fde = fde;
	m->row = row;
	m->initial = NULL;
	m->location = m->target = fde->start;
	m->depth = 0;
	memset(row, 0, sizeof(*row));
	row->signal = fde->cie.signal;
	if (run(m, fde->cie.program) == BROKEN)
		return false;
	*initial = *row;
	m->initial = initial;
	return true;
}

bool mt_cfi_program_run(const struct mt_cfi_section *section, const struct mt_cfi_fde *fde,
			uint64_t address, struct mt_cfi_row *row)
{
	struct mt_cfi_row initial;
	struct machine m;

	if (!begin(&m, section, fde, row, &initial))
		return false;
	m.target = address;
	return run(&m, fde->program) != BROKEN && row->cfa.kind != MT_CFI_UNSPECIFIED;
}

bool mt_cfi_program_rows(const struct mt_cfi_section *section, const struct mt_cfi_fde *fde,
			 bool (*row)(void *context, uint64_t from, const struct mt_cfi_row *row),
			 void *context)
{
	bool readable = fde->cie.return_register == MT_DWARF_RIP, reported;
	struct mt_cfi_row at, initial;
	enum outcome outcome;
	struct machine m;

	if (!readable || !begin(&m, section, fde, &at, &initial))
		return row(context, fde->start, NULL);
	m.c = fde->program;
	do {
		outcome = run(&m, m.c);
		reported = outcome != BROKEN && at.cfa.kind != MT_CFI_UNSPECIFIED;
		if (!row(context, m.target, reported ? &at : NULL))
			return false;
		m.target = m.location; /* the first address of the next row */
	} while (outcome == REACHED && m.target < fde->end);
	return true;
}
