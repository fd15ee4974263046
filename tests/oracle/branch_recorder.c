/* Branch records as the hardware makes them. */
#include "tests/oracle/branch_recorder.h"

#include <linux/perf_event.h>
#include <string.h>

#define KERNEL_ENTRY 0xffffffff81000040ull
#define KERNEL_EXIT 0xffffffff810000f0ull

enum branch { /* by PERF_BR_* */
	NONE = PERF_BR_UNKNOWN,
	CONDITIONAL = PERF_BR_COND,
	JUMP = PERF_BR_UNCOND,
	INDIRECT = PERF_BR_IND,
	CALL = PERF_BR_CALL,
	INDIRECT_CALL = PERF_BR_IND_CALL,
	RETURN = PERF_BR_RET,
	SYSCALL = PERF_BR_SYSCALL,
};

static const struct {
	const char *word;
	uint64_t bit;
} words[] = {
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"call_stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
};

bool branch_recorder_parse(const char *text, uint64_t *type)
{
	for (size_t n; *text; text += n + (text[n] == ',')) {
		bool known = false;

		n = strcspn(text, ",");
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (strlen(words[i].word) != n || strncmp(words[i].word, text, n))
				continue;
			*type |= words[i].bit;
			known = true;
		}
		if (!known)
			return false;
	}
	return true;
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
	       byte == 0x3e || byte == 0x26 || byte == 0x36 || byte == 0x64 || byte == 0x65 ||
	       (byte & 0xf0) == 0x40;
}

/* What the instruction is; *size is set for conditional branches and system calls alone. */
static enum branch classify(const uint8_t *code, size_t *size)
{
	size_t n = 0;

	while (n < 8 && is_prefix(code[n]))
		n++;
	*size = n + 2;
	if ((code[n] & 0xf0) == 0x70 || (code[n] & 0xfc) == 0xe0)
		return CONDITIONAL;
	if (code[n] == 0x0f && (code[n + 1] & 0xf0) == 0x80) {
		*size = n + 6;
		return CONDITIONAL;
	}
	if (code[n] == 0x0f && code[n + 1] == 0x05)
		return SYSCALL;
	switch (code[n]) {
	case 0xe8:
		return CALL;
	case 0xe9:
	case 0xeb:
		return JUMP;
	case 0xc2:
	case 0xc3:
		return RETURN;
	case 0xff:
		switch (code[n + 1] >> 3 & 7) {
		case 2:
			return INDIRECT_CALL;
		case 4:
			return INDIRECT;
		}
		return NONE;
	default:
		return NONE;
	}
}

/* Whether the filter lets such a branch through. */
static bool passes(uint64_t type, enum branch branch)
{
	uint64_t wanted = PERF_SAMPLE_BRANCH_ANY;

	switch (branch) {
	case CALL:
		wanted |= PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_CALL;
		break;
	case INDIRECT_CALL:
		wanted |= PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_IND_CALL;
		break;
	case RETURN:
		wanted |= PERF_SAMPLE_BRANCH_ANY_RETURN;
		break;
	case CONDITIONAL:
		wanted |= PERF_SAMPLE_BRANCH_COND;
		break;
	case INDIRECT:
		wanted |= PERF_SAMPLE_BRANCH_IND_JUMP;
		break;
	default:
		break;
	}
	return type & wanted;
}

static void push(struct branch_recorder *r, uint64_t from, uint64_t to, enum branch branch,
		 struct stepper_entry call)
{
	size_t keep = r->count < r->depth ? r->count : r->depth - 1;

	memmove(r->records + 1, r->records, keep * sizeof(r->records[0]));
	memmove(r->calls + 1, r->calls, keep * sizeof(r->calls[0]));
	r->records[0] = (struct mt_branch){.from = from, .to = to, .flags = 2};
	if (r->type & PERF_SAMPLE_BRANCH_TYPE_SAVE)
		r->records[0].flags |= (uint64_t)branch << 20;
	r->calls[0] = call;
	r->count = keep + 1;
	r->index = (r->index + 1) % r->depth;
}

static void pop(struct branch_recorder *r)
{
	r->index = (r->index + r->depth - 1) % r->depth;
	if (!r->count)
		return;
	r->count--;
	memmove(r->records, r->records + 1, r->count * sizeof(r->records[0]));
	memmove(r->calls, r->calls + 1, r->count * sizeof(r->calls[0]));
}

/* Calls push, returns pop, whatever they return to; a call of the next instruction does neither. */
static void follow_calls(struct branch_recorder *r, const struct stepper *s, enum branch branch)
{
	uint64_t back = 0;

	if (branch == RETURN)
		pop(r);
	if (branch != CALL && branch != INDIRECT_CALL)
		return;
	stepper_read_memory(s, s->regs.rsp, &back, sizeof(back));
	if (back != s->regs.rip)
		push(r, s->before.rip, s->regs.rip, branch,
		     (struct stepper_entry){.slot = s->regs.rsp, .pc = back});
}

static void leave_kernel(struct branch_recorder *r, uint64_t to)
{
	if (r->type & PERF_SAMPLE_BRANCH_KERNEL)
		push(r, KERNEL_EXIT, to, JUMP, (struct stepper_entry){0});
}

void branch_recorder_follow(struct branch_recorder *r, const struct stepper *s)
{
	size_t size;
	enum branch branch = classify(s->code, &size);

	if (r->type & PERF_SAMPLE_BRANCH_CALL_STACK) {
		if (!s->signalled)
			follow_calls(r, s, branch);
		return;
	}
	if (s->signalled) {
		leave_kernel(r, s->regs.rip);
	} else if (branch == SYSCALL) {
		if (r->type & PERF_SAMPLE_BRANCH_KERNEL)
			push(r, s->before.rip, KERNEL_ENTRY, SYSCALL, (struct stepper_entry){0});
		leave_kernel(r, s->regs.rip);
	} else if (branch != NONE &&
		   (branch != CONDITIONAL || s->regs.rip != s->before.rip + size) &&
		   passes(r->type, branch)) {
		push(r, s->before.rip, s->regs.rip, branch, (struct stepper_entry){0});
	}
}
