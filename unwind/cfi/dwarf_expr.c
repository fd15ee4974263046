/*
 * A stack machine for DWARF expressions in call frame information. Operations that have no meaning
 * in it (location pieces, object addresses, thread-local storage, calls) are refused.
 */
#include "unwind/cfi/dwarf_expr.h"

#include "formats/base/cursor.h"
#include "unwind/cfi/dump.h"

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
	OP_CALL_FRAME_CFA = 0x9c,
};

#define STACK_MAX 64
#define STEPS_MAX 4096 /* a loop in an expression is legal, but must end */

struct evaluation {
	const struct mt_dwarf_expr *expr;
	struct mt_cursor c;
	bool bad;
	unsigned int depth;
	uint64_t stack[STACK_MAX];
};

static void push(struct evaluation *e, uint64_t value)
{
	if (e->depth == STACK_MAX)
		e->bad = true;
	else
		e->stack[e->depth++] = value;
}

static uint64_t pop(struct evaluation *e)
{
	if (!e->depth) {
		e->bad = true;
		return 0;
	}
	return e->stack[--e->depth];
}

static uint64_t pick(struct evaluation *e, unsigned int index)
{
	if (index >= e->depth) {
		e->bad = true;
		return 0;
	}
	return e->stack[e->depth - 1 - index];
}

static void push_register(struct evaluation *e, uint64_t reg)
{
	const struct mt_unwind_regs *regs = e->expr->regs;
	int64_t offset = mt_cursor_sleb(&e->c);

	if (reg >= MT_UNWIND_REGS || !(regs->valid >> reg & 1))
		e->bad = true;
	else
		push(e, regs->value[reg] + (uint64_t)offset);
}

static void dereference(struct evaluation *e, unsigned int size)
{
	uint64_t address = pop(e), offset = address - e->expr->dump->start, value = 0;

	if (size > 8 || e->expr->dump->size < size || offset > e->expr->dump->size - size) {
		e->bad = true;
		return;
	}
	for (unsigned int i = size; i-- > 0;)
		value = value << 8 | e->expr->dump->bytes[offset + i];
	push(e, value);
}

static void jump(struct evaluation *e, int16_t distance)
{
	const uint8_t *start = e->expr->bytes;
	int64_t to = (e->c.pos - start) + (int64_t)distance;

	if (to < 0 || to > (int64_t)e->expr->size)
		e->bad = true;
	else
		e->c.pos = start + to;
}

static void branch(struct evaluation *e, bool conditional)
{
	int16_t distance = (int16_t)mt_cursor_u16(&e->c);

	if (!conditional || pop(e))
		jump(e, distance);
}

static bool push_constant(struct evaluation *e, uint8_t op)
{
	switch (op) {
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S:
		push(e, mt_cursor_u64(&e->c));
		return true;
	case OP_CONST1U:
		push(e, mt_cursor_u8(&e->c));
		return true;
	case OP_CONST1S:
		push(e, (uint64_t)(int8_t)mt_cursor_u8(&e->c));
		return true;
	case OP_CONST2U:
		push(e, mt_cursor_u16(&e->c));
		return true;
	case OP_CONST2S:
		push(e, (uint64_t)(int16_t)mt_cursor_u16(&e->c));
		return true;
	case OP_CONST4U:
		push(e, mt_cursor_u32(&e->c));
		return true;
	case OP_CONST4S:
		push(e, (uint64_t)(int32_t)mt_cursor_u32(&e->c));
		return true;
	case OP_CONSTU:
		push(e, mt_cursor_uleb(&e->c));
		return true;
	case OP_CONSTS:
		push(e, (uint64_t)mt_cursor_sleb(&e->c));
		return true;
	default:
		return false;
	}
}

static void rotate(struct evaluation *e)
{
	uint64_t first = pop(e), second = pop(e), third = pop(e);

	push(e, first);
	push(e, third);
	push(e, second);
}

static void swap(struct evaluation *e)
{
	uint64_t first = pop(e), second = pop(e);

	push(e, first);
	push(e, second);
}

static bool shuffle(struct evaluation *e, uint8_t op)
{
	switch (op) {
	case OP_DUP:
		push(e, pick(e, 0));
		return true;
	case OP_DROP:
		pop(e);
		return true;
	case OP_OVER:
		push(e, pick(e, 1));
		return true;
	case OP_PICK:
		push(e, pick(e, mt_cursor_u8(&e->c)));
		return true;
	case OP_SWAP:
		swap(e);
		return true;
	case OP_ROT:
		rotate(e);
		return true;
	default:
		return false;
	}
}

static bool unary(struct evaluation *e, uint8_t op)
{
	uint64_t value;

	switch (op) {
	case OP_ABS:
		value = pop(e);
		push(e, (int64_t)value < 0 ? -value : value);
		return true;
	case OP_NEG:
		push(e, -pop(e));
		return true;
	case OP_NOT:
		push(e, ~pop(e));
		return true;
	case OP_PLUS_UCONST:
		value = pop(e);
		push(e, value + mt_cursor_uleb(&e->c));
		return true;
	default:
		return false;
	}
}

static uint64_t divide(struct evaluation *e, uint64_t a, uint64_t b)
{
	if (!b || (a == (uint64_t)INT64_MIN && b == UINT64_MAX)) {
		e->bad = true;
		return 0;
	}
	return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t modulo(struct evaluation *e, uint64_t a, uint64_t b)
{
	if (!b) {
		e->bad = true;
		return 0;
	}
	return a % b;
}

static uint64_t shift_right(uint64_t a, uint64_t b, bool arithmetic)
{
	if (!arithmetic)
		return b < 64 ? a >> b : 0;
	return (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
}

static uint64_t arithmetic(struct evaluation *e, uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND:
		return a & b;
	case OP_DIV:
		return divide(e, a, b);
	case OP_MINUS:
		return a - b;
	case OP_MOD:
		return modulo(e, a, b);
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_SHL:
		return b < 64 ? a << b : 0;
	case OP_SHR:
		return shift_right(a, b, false);
	case OP_SHRA:
		return shift_right(a, b, true);
	case OP_XOR:
		return a ^ b;
	default:
		e->bad = true;
		return 0;
	}
}

static uint64_t compare(struct evaluation *e, uint8_t op, int64_t a, int64_t b)
{
	switch (op) {
	case OP_EQ:
		return a == b;
	case OP_GE:
		return a >= b;
	case OP_GT:
		return a > b;
	case OP_LE:
		return a <= b;
	case OP_LT:
		return a < b;
	case OP_NE:
		return a != b;
	default:
		e->bad = true;
		return 0;
	}
}

static void binary(struct evaluation *e, uint8_t op)
{
	uint64_t b = pop(e), a = pop(e);

	if (op >= OP_EQ && op <= OP_NE)
		push(e, compare(e, op, (int64_t)a, (int64_t)b));
	else
		push(e, arithmetic(e, op, a, b));
}

static void step_rare(struct evaluation *e, uint8_t op)
{
	switch (op) {
	case OP_DEREF:
		dereference(e, 8);
		break;
	case OP_DEREF_SIZE:
		dereference(e, mt_cursor_u8(&e->c));
		break;
	case OP_BREGX:
		push_register(e, mt_cursor_uleb(&e->c));
		break;
	case OP_BRA:
	case OP_SKIP:
		branch(e, op == OP_BRA);
		break;
	case OP_CALL_FRAME_CFA:
		if (e->expr->cfa)
			push(e, *e->expr->cfa);
		else
			e->bad = true;
		break;
	case OP_NOP:
		break;
	default:
		if (!push_constant(e, op) && !shuffle(e, op) && !unary(e, op))
			binary(e, op);
	}
}

static void step(struct evaluation *e)
{
	uint8_t op = mt_cursor_u8(&e->c);

	if (op >= OP_LIT0 && op < OP_LIT0 + 32)
		push(e, op - OP_LIT0);
	else if (op >= OP_BREG0 && op < OP_BREG0 + 32)
		push_register(e, op - OP_BREG0);
	else
		step_rare(e, op);
}

bool mt_dwarf_expr_eval(const struct mt_dwarf_expr *expr, uint64_t *out)
{
	struct evaluation e;
	unsigned int steps = 0;

	/* The stack is written before it is read. */
	e.expr = expr;
	e.c = mt_cursor_init(expr->bytes, expr->size);
	e.bad = false;
	e.depth = 0;
	if (expr->cfa)
		push(&e, *expr->cfa);
	while (!e.bad && mt_cursor_left(&e.c)) {
		if (steps++ == STEPS_MAX)
			return false;
		step(&e);
	}
	if (e.bad || e.c.bad || !e.depth)
		return false;
	*out = e.stack[e.depth - 1];
	return true;
}
