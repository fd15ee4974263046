/*
 * The compact form of a CFI row: 8 bytes that yield the caller's pc, stack pointer and frame
 * pointer. All but a few hundredths of a percent of rows have this form: the return address is at
 * CFA - 8, and the caller's stack pointer is the CFA.
 */
#ifndef MT_UNWIND_CFI_RULE_H
#define MT_UNWIND_CFI_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/cfi/dump.h"

struct mt_cfi_row;

/*
 * Why a stack ends. The values are bytes of the file: FORMAT.md, sample_record.h, scripts/mtdump.
 */
enum mt_stack_end {
	MT_END_ROOT,	/* the outermost frame, by CFI or by a return address of 0 */
	MT_END_NO_REGS, /* no user registers (a kernel thread, or not sampled) */
	MT_END_NO_DUMP, /* registers, but no stack bytes */
	MT_END_DUMP,	/* the dump ended; it has the requested size */
	MT_END_PAGE,	/* the dump ended early: an absent stack page, or the end of the stack */
	/*
	 * continues on a stack that was not dumped, as past a signal handler on an alternate stack
	 */
	MT_END_STACK,
	/* no mapping covers the sampled pc or the next return address, which is then not a frame */
	MT_END_NO_IMAGE,
	MT_END_NO_ELF,	/* the mapping's image is not available, or its build id differs */
	MT_END_NO_CFI,	/* no FDE covers pc, and a frame-pointer step was not plausible */
	MT_END_BAD_CFI, /* the FDE is malformed */
	/* the CFA is not on the stack, or has no return address */
	MT_END_BAD_CFA,
	MT_END_LOOP, /* the CFA did not rise */
	/* the callchain ended, and may be incomplete */
	MT_END_CHAIN,
	MT_END_LIMIT, /* --max-stack, or the caller's storage */
	/* the hardware call stack ended: no more calls were kept */
	MT_END_BRANCHES,
	MT_END_NO_BRANCHES, /* a hardware call stack was requested, but the sample has none */
	MT_END_UNREPORTED,  /* from another unwinder that does not report reasons (oracle.h) */
	MT_END_REASONS
};

enum mt_rule_kind {
	MT_RULE_SP,	  /* CFA = sp + offset */
	MT_RULE_FP,	  /* CFA = fp + offset */
	MT_RULE_FP_DEREF, /* CFA = *(fp + offset): a realigned stack */
	/* the kernel's signal frame has the interrupted registers: rsp is saved at sp + offset */
	MT_RULE_SIGNAL,
	MT_RULE_END,  /* the outermost frame */
	MT_RULE_NONE, /* no rule; offset is the enum mt_stack_end that gives the reason */
	MT_RULE_SLOW, /* needs the full row and all registers */
};

enum mt_rule_fp {
	MT_RULE_FP_SAME,
	MT_RULE_FP_AT_CFA, /* saved at CFA + 8 * slot */
	/* saved at fp + 8 * slot; but if fp is not below the CFA, it is already the caller's */
	MT_RULE_FP_AT_FP,
};

struct mt_rule {
	int32_t offset;
	int16_t fp_slot;
	uint8_t kind; /* enum mt_rule_kind */
	uint8_t fp;   /* enum mt_rule_fp */
};

_Static_assert(sizeof(struct mt_rule) == 8, "a rule is 8 bytes");

/* The registers that the fast path restores. */
struct mt_position {
	uint64_t pc, sp, fp;
};

/* Bounds of a plausible return address: above the first page, below the kernel. */
#define MT_PC_MIN ((uint64_t)4096)
#define MT_PC_END ((uint64_t)1 << 47)

static inline bool mt_pc_plausible(uint64_t pc)
{
	return pc - MT_PC_MIN < MT_PC_END - MT_PC_MIN;
}

/* Converts a row to a rule. pc is the looked up address, on which the CFA of a PLT depends. */
struct mt_rule mt_rule_from_row(const struct mt_cfi_row *row, uint64_t pc);

static inline struct mt_rule mt_rule_none(int end)
{
	return (struct mt_rule){.kind = MT_RULE_NONE, .offset = end};
}

/*
 * Reads the caller's fp. A slot below the dump was popped, so fp is unchanged. If the slot is above
 * the dump, fp is unknown and set to 0.
 */
static inline void mt_rule_restore_fp(const struct mt_dump *dump, uint64_t slot,
				      struct mt_position *at)
{
	if (!mt_dump_read(dump, slot, &at->fp) && slot >= dump->start)
		at->fp = 0;
}

/*
 * Makes the common step from a frame to its caller, in place. False, with *at unchanged, for other
 * kinds of rules, a CFA that does not rise, a word outside the dump or an implausible return
 * address.
 */
static inline bool mt_rule_step(struct mt_rule rule, const struct mt_dump *dump,
				struct mt_position *at)
{
	uint64_t cfa = (rule.kind == MT_RULE_SP ? at->sp : at->fp) + (uint64_t)(int64_t)rule.offset;
	uint64_t pc;

	if (rule.kind > MT_RULE_FP_DEREF)
		return false;
	if (rule.kind == MT_RULE_FP_DEREF && !mt_dump_read(dump, cfa, &cfa))
		return false;
	if (cfa <= at->sp || !mt_dump_read(dump, cfa - 8, &pc) || !mt_pc_plausible(pc))
		return false;
	if (rule.fp == MT_RULE_FP_AT_CFA)
		mt_rule_restore_fp(dump, cfa + (uint64_t)((int64_t)rule.fp_slot * 8), at);
	else if (rule.fp == MT_RULE_FP_AT_FP && at->fp < cfa)
		mt_rule_restore_fp(dump, at->fp + (uint64_t)((int64_t)rule.fp_slot * 8), at);
	at->pc = pc;
	at->sp = cfa;
	return true;
}

#endif
