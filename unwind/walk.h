/* One stack being unwound, and the pieces that carry it on. Private to the unwinder. */
#ifndef MT_UNWIND_WALK_H
#define MT_UNWIND_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cache.h"
#include "unwind/cfi/cfi.h"
#include "unwind/dump.h"
#include "unwind/recall.h"
#include "unwind/rule.h"
#include "unwind/unwind.h"

struct mt_branch_runs;
struct mt_oracle_spaces;

struct mt_unwinder {
	struct mt_unwind_options options;
	struct mt_unwind_counts counts;
	struct mt_cache_entry *cache; /* MT_CACHE_ENTRIES */
	bool of_versions;	      /* some of its rules are kept by a map's version */
	struct mt_seen_code *returns; /* fp.c's: what stands before return addresses */
	struct mt_seen_code *places;  /* fp.c's: what stands where code without CFI was sampled */
	uint64_t extent; /* bytes of a dump that stacks went through of late, on average, before
			    they were recalled */
	struct mt_recall *recall;	 /* recall.c's: the last stacks of threads */
	struct mt_recalled *trail;	 /* MT_RECALL_FRAMES: of the stack being walked */
	struct mt_branch_runs *runs;	 /* lbr_walk.c's; NULL until one is needed */
	struct mt_oracle_spaces *oracle; /* oracle.c's; NULL until one is asked */
	void (*oracle_destroy)(struct mt_oracle_spaces *oracle);
};

/* A step's outcome is an enum mt_stack_end, or this: there is a next frame. */
#define MT_WALK_ON ((int)MT_END_REASONS)

struct mt_walk {
	struct mt_unwinder *unwinder;
	const struct mt_unwind_input *input;
	struct mt_stack *stack;
	struct mt_dump dump;
	size_t first;		      /* the index in stack of the sample's own frame */
	size_t room;		      /* how many frames stack may hold */
	uint32_t generation, version; /* of the map */
	bool use_fp;		      /* frame-pointer steps are allowed */
	uint64_t boundary; /* the CFA whose return address the dump does not hold, or 0 */

	struct mt_position at; /* the newest frame */
	uint8_t source;	       /* enum mt_frame_source of it */
	bool call_return;      /* at.pc is a return address */
	unsigned int switches; /* how often sp changed by more than a return */
	uint64_t recalled_at;  /* sp of the first frame whose callers were recalled; 0: none */
	struct mt_recalling recalling;

	struct mt_unwind_regs regs; /* all registers of frame regs_frame; see full.c */
	size_t regs_frame;
	bool have_regs;
};

/* Starts at the sample's registers, which the input has. */
void mt_walk_init(struct mt_walk *walk, struct mt_unwinder *unwinder,
		  const struct mt_unwind_input *input, struct mt_stack *stack);

/* By CFI (and frame pointers, where allowed) through the dump, frame by frame, until an end. */
enum mt_stack_end mt_walk_dump(struct mt_walk *walk);

/* By frame pointers alone through the dump. */
enum mt_stack_end mt_walk_fp(struct mt_walk *walk);

/* Appends a frame; false where there is no room. */
bool mt_walk_push(struct mt_walk *walk, const struct mt_frame *frame);

/* The rule for a pc, through the cache. */
struct mt_rule mt_walk_rule(struct mt_walk *walk, uint64_t pc, bool call_return);

/* Why a word at this address cannot be read from the dump. */
enum mt_stack_end mt_walk_unreadable(const struct mt_walk *walk, uint64_t address);

/* The frame moved to another stack (a signal, a longjmp): false when that happens too often. */
bool mt_walk_switch(struct mt_walk *walk);

/* full.c: one step with all registers, from the newest frame. */
int mt_full_step(struct mt_walk *walk);

/*
 * fp.c: one frame-pointer step from `at` in code without CFI, held against the mapping and, where
 * the file is at hand, the code before the return address. False where it does not hold.
 */
bool mt_fp_step(const struct mt_walk *walk, const struct mt_position *at, bool call_return,
		struct mt_position *next);

/* fp.c: the same from a return address, in place, where what it finds was met before. */
bool mt_fp_step_seen(const struct mt_walk *walk, struct mt_position *at);

/* fp.c: whether a word points behind a call in a file's code, as far as that is at hand. */
bool mt_fp_is_return(const struct mt_walk *walk, uint64_t word);

/* fp.c: whether the bytes before a return address end in a call instruction. */
#define MT_CALL_CODE 7 /* bytes of the longest */
bool mt_fp_ends_in_call(const uint8_t code[MT_CALL_CODE]);

/* guess.c: guesses at callers behind an end within the dump; gives that end as it is. */
enum mt_stack_end mt_scan_splice(struct mt_walk *walk, enum mt_stack_end end);

/*
 * What code an address has, once it was looked at; direct-mapped, by the map's version, of which no
 * two maps that differ have the same.
 */
struct mt_seen_code {
	uint64_t pc;
	uint32_t version; /* 0: empty */
	uint32_t kind;	  /* fp.c's enum return_kind, or enum place_kind */
};

#define MT_SEEN_CODE_BITS 12
#define MT_SEEN_CODE ((size_t)1 << MT_SEEN_CODE_BITS)

/* A frame pointer further above the stack pointer than this is not taken for one. */
#define MT_FP_SPAN_MAX ((uint64_t)8 << 20)

/*
 * chain.c: the kernel's chain as the whole stack; and as the provable continuation of a stack whose
 * dump ended so.
 */
enum mt_stack_end mt_chain_whole(struct mt_walk *walk);
enum mt_stack_end mt_chain_splice(struct mt_walk *walk, enum mt_stack_end end);

#endif
