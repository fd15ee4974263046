/* The state of one stack that is being unwound, and its steps. Private to the unwinder. */
#ifndef MT_UNWIND_WALK_H
#define MT_UNWIND_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cache.h"
#include "unwind/cfi/cfi.h"
#include "unwind/cfi/dump.h"
#include "unwind/cfi/rule.h"
#include "unwind/unwind.h"

struct mt_oracle_spaces;

struct mt_unwinder {
	struct mt_unwind_options options;
	struct mt_unwind_counts counts;
	struct mt_cache_entry *cache;	 /* MT_CACHE_ENTRIES */
	bool of_versions;		 /* some cached rules have a map's version as key */
	struct mt_seen_code *returns;	 /* fp.c: checks of return addresses */
	struct mt_seen_code *places;	 /* fp.c: checks of sampled pcs in code without CFI */
	struct mt_oracle_spaces *oracle; /* oracle.c; NULL until first used */
	void (*oracle_destroy)(struct mt_oracle_spaces *oracle);
};

/* A step returns an enum mt_stack_end, or this value if there is another frame. */
#define MT_WALK_ON ((int)MT_END_REASONS)

struct mt_walk {
	struct mt_unwinder *unwinder;
	const struct mt_unwind_input *input;
	struct mt_stack *stack;
	struct mt_dump dump;
	size_t first;		      /* index in stack of the sample's own frame */
	size_t room;		      /* number of frames that stack may hold */
	uint32_t generation, version; /* of the map */
	bool use_fp;		      /* frame-pointer steps are allowed */
	uint64_t boundary;	      /* the CFA whose return address is past the dump, or 0 */

	struct mt_position at; /* the newest frame */
	uint8_t source;	       /* source of the newest frame: enum mt_frame_source */
	bool call_return;      /* at.pc is a return address */
	unsigned int switches; /* number of stack switches */

	struct mt_unwind_regs regs; /* all registers of frame regs_frame; see all_registers.c */
	size_t regs_frame;
	bool have_regs;
};

/* Starts a walk at the sample's registers, which the input must have. */
void mt_walk_init(struct mt_walk *walk, struct mt_unwinder *unwinder,
		  const struct mt_unwind_input *input, struct mt_stack *stack);

/* Walks the dump by CFI and, if allowed, by frame pointers, until the stack ends. */
enum mt_stack_end mt_walk_dump(struct mt_walk *walk);

/* Walks the dump by frame pointers only. */
enum mt_stack_end mt_walk_fp(struct mt_walk *walk);

/* Appends a frame; false if the stack is full. */
bool mt_walk_push(struct mt_walk *walk, const struct mt_frame *frame);

/* Finds the rule for pc, looked up at `address`, and puts it into the cache (lookup.c). */
struct mt_rule mt_walk_rule_miss(struct mt_walk *walk, uint64_t address, uint64_t pc,
				 struct mt_cache_entry *entry, uint64_t tag);

/* The rule for a plausible pc, through the cache. */
static inline struct mt_rule mt_walk_cached_rule(struct mt_walk *walk, uint64_t pc,
						 bool call_return)
{
	uint64_t address = pc - call_return, tag = mt_cache_tag(address, walk->generation);
	struct mt_cache_entry *entry = mt_cache_entry(walk->unwinder->cache, address, tag);

	if (__builtin_expect(entry->tag != tag, 0))
		return mt_walk_rule_miss(walk, address, pc, entry, tag);
	return entry->rule;
}

/* The same for any pc. */
static inline struct mt_rule mt_walk_rule(struct mt_walk *walk, uint64_t pc, bool call_return)
{
	return mt_pc_plausible(pc) ? mt_walk_cached_rule(walk, pc, call_return)
				   : mt_rule_none(MT_END_NO_IMAGE);
}

/*
 * Maximum size of a stack. A frame address further up is considered wrong, not past a small dump.
 */
#define MT_WALK_STACK_SPAN_MAX ((uint64_t)1 << 30)

/* Why the word at an address cannot be read from the dump. */
static inline enum mt_stack_end mt_walk_unreadable(const struct mt_walk *walk, uint64_t address)
{
	const struct mt_dump *dump = &walk->dump;
	bool early = dump->size < walk->input->dump_asked;

	if (!dump->size)
		return MT_END_NO_DUMP;
	if (address < dump->start || address - dump->start > MT_WALK_STACK_SPAN_MAX)
		return walk->switches ? MT_END_STACK : MT_END_BAD_CFA;
	if (walk->switches && early && walk->at.sp - dump->start >= dump->size)
		return MT_END_STACK;
	return early ? MT_END_PAGE : MT_END_DUMP;
}

/* Maximum number of nested signals and coroutine switches in a stack; more of them are a loop. */
#define MT_WALK_SWITCHES_MAX 16

/* Counts a change to another stack (a signal, a longjmp); false if there were too many. */
static inline bool mt_walk_switch(struct mt_walk *walk)
{
	return ++walk->switches <= MT_WALK_SWITCHES_MAX;
}

/* One step from the newest frame with all registers (all_registers.c). */
int mt_all_registers_step(struct mt_walk *walk);

/*
 * A frame-pointer step from `at` in code without CFI, checked against the mapping and, if the file
 * is available, the code before the return address (fp.c). False if the checks fail.
 */
bool mt_fp_step(const struct mt_walk *walk, const struct mt_position *at, bool call_return,
		struct mt_position *next);

/*
 * Like mt_fp_step(), only from a return address; updates *at. False unless the return address that
 * the step finds is in the cache (fp.c).
 */
bool mt_fp_step_seen(const struct mt_walk *walk, struct mt_position *at);

/*
 * Whether a word is an address in code of a file. If the code is available, a call must end at the
 * address (fp.c).
 */
bool mt_fp_is_return(const struct mt_walk *walk, uint64_t word);

/* Whether the bytes before a return address end in a call instruction (fp.c). */
#define MT_CALL_CODE 7 /* bytes of the longest call instruction */
bool mt_fp_ends_in_call(const uint8_t code[MT_CALL_CODE]);

/* The size of the call instruction at `code`, which has n bytes; 0: not a call (fp.c). */
size_t mt_fp_call_size(const uint8_t *code, size_t n);

/*
 * Scans the dump for callers past a frame with the end reason `end`; returns `end` (word_scan.c).
 */
enum mt_stack_end mt_scan_splice(struct mt_walk *walk, enum mt_stack_end end);

/*
 * A cached fact about the code at an address. The cache is direct-mapped; its key is the address
 * and the map's version. Different maps never have the same version.
 */
struct mt_seen_code {
	uint64_t pc;
	uint32_t version; /* 0: empty */
	uint32_t kind;	  /* enum return_kind or enum place_kind of fp.c */
};

#define MT_SEEN_CODE_BITS 12
#define MT_SEEN_CODE ((size_t)1 << MT_SEEN_CODE_BITS)

/* Largest plausible distance of a frame pointer from the stack pointer. */
#define MT_FP_SPAN_MAX ((uint64_t)8 << 20)

/*
 * mt_chain_whole() makes the callchain the whole stack. mt_chain_splice() appends the remaining
 * callchain to a stack that ended with `end`, if it is provably the same stack (chain.c). Both
 * return the end.
 */
enum mt_stack_end mt_chain_whole(struct mt_walk *walk);
enum mt_stack_end mt_chain_splice(struct mt_walk *walk, enum mt_stack_end end);

/* ---- Hardware call stacks from branch records (lbr_walk.c) ---- */

enum {
	MT_BRANCHES_MAX = 1024, /* maximum number of records used; older ones are ignored */
};

struct mt_branch_call {
	uint64_t from, to;
	uint8_t size; /* of the call instruction at `from`, in bytes; 0: unknown */
};

/* The recorded calls, newest first, at most MT_BRANCHES_MAX. */
size_t mt_branches_callers(const struct mt_walk *walk, struct mt_branch_call *out);

/* Appends recorded calls to a stack that ended with `end`; returns the new end (lbr_splice.c). */
enum mt_stack_end mt_branches_splice(struct mt_walk *walk, enum mt_stack_end end);

/* Builds a stack from the sampled ip and the recorded calls. */
enum mt_stack_end mt_branches_whole(struct mt_walk *walk);

#endif
