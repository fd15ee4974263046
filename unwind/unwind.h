/*
 * Unwinding: takes registers, a stack dump and a map of images; returns frames, each with its
 * source, and the reason why the stack ends.
 *
 * An mt_unwinder is the state of one worker (the rule cache); workers only share the images' CFI,
 * which is thread-safe. Does not use symbols or a recording, because mtrec uses this code, too.
 */
#ifndef MT_UNWIND_UNWIND_H
#define MT_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/rule.h"

struct mt_branch;
struct mt_image_map;
struct mt_unwinder;

/* The source of a frame's pc. */
enum mt_frame_source {
	MT_FRAME_IP,	   /* the sampled instruction pointer */
	MT_FRAME_KERNEL,   /* the kernel half of the callchain */
	MT_FRAME_CFI,	   /* call frame information and the dump */
	MT_FRAME_FP,	   /* a checked frame-pointer step in the dump */
	MT_FRAME_CHAIN,	   /* the user half of the callchain, by frame pointers */
	MT_FRAME_LBR,	   /* the sample's hardware call stack */
	MT_FRAME_STITCHED, /* reserved: from an earlier sample's call stack, in old recordings */
	MT_FRAME_JOINED,   /* from another stack of the thread; see unwind/join/join.h */
	/* a scan for return addresses; this frame and all its callers are guesses */
	MT_FRAME_SCANNED,
	MT_FRAME_SOURCES
};

struct mt_frame {
	/* a return address, except in the first frame and in the caller of a signal frame */
	uint64_t pc;
	uint64_t sp;	  /* stack pointer in this frame; 0: unknown (callchain frames) */
	uint8_t source;	  /* enum mt_frame_source */
	bool call_return; /* pc is a return address: look up pc - 1 */
};

/*
 * Unwinding appends frames: the caller sets count to 0, or to the number of frames that it has
 * stored (of the kernel).
 */
struct mt_stack {
	struct mt_frame *frames; /* innermost first; the caller's storage */
	size_t capacity;
	size_t count;
	enum mt_stack_end end;
	/*
	 * If the dump ended in the outermost frame: the stack pointer of the missing caller. 0 if
	 * unknown, and for every other end.
	 */
	uint64_t boundary;
};

struct mt_unwind_input {
	struct mt_unwind_regs regs;
	bool have_regs;
	/* from the stack pointer up; borrowed during the call, any alignment */
	const uint8_t *dump;
	size_t dump_size;
	/* the event's dump size; if dump_size is smaller, the kernel stopped early */
	size_t dump_asked;
	/* return addresses that probes have replaced; borrowed during the call */
	const struct mt_return_slot *returns;
	size_t return_count;
	const uint64_t *chain; /* the user half of the callchain, innermost first; may be NULL */
	size_t chain_count;
	uint64_t ip; /* sampled ip of a user sample; 0: a sample in the kernel, or not sampled */
	bool has_branches; /* branch records were sampled, maybe none, maybe not of calls */
	const struct mt_branch *branches; /* a hardware call stack, newest call first */
	size_t branch_count;
	const struct mt_image_map *map; /* the address space at the time of the sample */
};

struct mt_unwind_options {
	/* maximum of stack->count; 0: only the capacity limits it */
	uint32_t max_frames;
	/* "auto" scans for return addresses as the last resort (word_scan.c) */
	bool scan;
};

/* Totals since the unwinder was created. */
struct mt_unwind_counts {
	uint64_t stacks, frames;
	uint64_t ends[MT_END_REASONS];
	uint64_t cache_misses, slow_steps;
};

/* A way to unwind: a row of mt_unwind_methods (--unwind NAME). */
struct mt_unwind_method {
	const char *name;
	const char *help;
	/* Appends frames and sets stack->end, the reason why the stack ends. Never fails. */
	void (*unwind)(struct mt_unwinder *unwinder, const struct mt_unwind_input *input,
		       struct mt_stack *stack);
	/*
	 * Returns why the method cannot be used on this machine; NULL if it can. If this member is
	 * NULL, it always can.
	 */
	const char *(*problem)(void);
};

/*
 * All methods, ended by a row of NULLs. The first is "auto": CFI in the dump, then frame pointers,
 * then the callchain; a hardware call stack past these, or without a dump; with options.scan, a
 * scan.
 */
extern const struct mt_unwind_method mt_unwind_methods[];

/* "auto", which also reads all code that other methods would read: for mtreport --seal. */
extern const struct mt_unwind_method mt_unwind_thorough;

/* The method called `name`, or NULL. */
const struct mt_unwind_method *mt_unwind_method_find(const char *name);

/* NULL out of memory. */
struct mt_unwinder *mt_unwinder_create(const struct mt_unwind_options *options);
void mt_unwinder_destroy(struct mt_unwinder *unwinder);
const struct mt_unwind_counts *mt_unwinder_counts(const struct mt_unwinder *unwinder);

/* Short names for reports: "cfi", "dump too small". */
const char *mt_frame_source_name(enum mt_frame_source source);
const char *mt_stack_end_name(enum mt_stack_end end);

#endif
