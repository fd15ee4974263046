/* Keeps branch records as the hardware produces them in call-stack mode. */
#include "tests/oracle/branch_recorder.h"

#include <string.h>

enum branch {
	OTHER,
	CALL,
	RETURN,
};

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
	       byte == 0x3e || byte == 0x26 || byte == 0x36 || byte == 0x64 || byte == 0x65 ||
	       (byte & 0xf0) == 0x40;
}

static enum branch classify(const uint8_t *code)
{
	size_t n = 0;

	while (n < 8 && is_prefix(code[n]))
		n++;
	if (code[n] == 0xe8 || (code[n] == 0xff && (code[n + 1] >> 3 & 7) == 2))
		return CALL;
	return code[n] == 0xc2 || code[n] == 0xc3 ? RETURN : OTHER;
}

static void push(struct branch_recorder *r, uint64_t from, uint64_t to, struct stepper_entry call)
{
	size_t keep = r->count < r->depth ? r->count : r->depth - 1;

	memmove(r->records + 1, r->records, keep * sizeof(r->records[0]));
	memmove(r->calls + 1, r->calls, keep * sizeof(r->calls[0]));
	r->records[0] = (struct mt_branch){.from = from, .to = to, .flags = 2};
	r->calls[0] = call;
	r->count = keep + 1;
}

static void pop(struct branch_recorder *r)
{
	if (!r->count)
		return;
	r->count--;
	memmove(r->records, r->records + 1, r->count * sizeof(r->records[0]));
	memmove(r->calls, r->calls + 1, r->count * sizeof(r->calls[0]));
}

/*
 * A call pushes a record and a return pops one, regardless of the return address. A call of the
 * next instruction is not recorded.
 */
void branch_recorder_follow(struct branch_recorder *r, const struct stepper *s)
{
	enum branch branch = s->signalled ? OTHER : classify(s->code);
	uint64_t back = 0;

	if (branch == RETURN)
		pop(r);
	if (branch != CALL)
		return;
	stepper_read_memory(s, s->regs.rsp, &back, sizeof(back));
	if (back != s->regs.rip)
		push(r, s->before.rip, s->regs.rip,
		     (struct stepper_entry){.slot = s->regs.rsp, .pc = back});
}
