/*
 * Unwinding: registers, a stack dump and a map of images in; return addresses with their sources
 * and an end reason out.
 *
 * An mt_unwinder is one worker's state (the rule cache); workers share nothing but the images'
 * read-only CFI. No symbols here, no recording, no kernel: the recorder can use the core too.
 */
#ifndef MT_UNWIND_UNWIND_H
#define MT_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_branch;
struct mt_decoder;
struct mt_image_map;
struct mt_unwinder;

/* What a frame's pc rests on. */
enum mt_frame_source {
	MT_FRAME_IP,	   /* the sampled instruction pointer itself */
	MT_FRAME_KERNEL,   /* the kernel's chain, kernel half */
	MT_FRAME_CFI,	   /* call frame information applied to the dump */
	MT_FRAME_FP,	   /* a frame-pointer step in the dump, checked */
	MT_FRAME_CHAIN,	   /* the kernel's frame-pointer chain, user half */
	MT_FRAME_LBR,	   /* the hardware's branch records */
	MT_FRAME_STITCHED, /* those of an earlier sample of the thread */
	MT_FRAME_JOINED,   /* another stack of the thread shows it; see join.h */
	MT_FRAME_SCANNED,  /* a guess: found by looking for return addresses, or behind one so found
			    */
	MT_FRAME_SOURCES
};

/* Why a stack has no further frame. */
enum mt_stack_end {
	MT_END_ROOT,	/* the outermost frame: CFI says so, or return address 0 */
	MT_END_NO_REGS, /* the sample has no user registers (a kernel thread, or not asked for) */
	MT_END_NO_DUMP, /* registers, but no stack bytes */
	MT_END_DUMP,	/* the dump was too small: it is as large as was asked for */
	MT_END_PAGE,	/* the dump ends early: a stack page was absent, or the stack's own end */
	MT_END_STACK, /* goes on on another stack than the dumped one: past a signal on an alternate
			 one */
	MT_END_NO_IMAGE, /* no mapping covers the sampled pc, or the next return address, which is
			    no frame then */
	MT_END_NO_ELF,	 /* the mapping's image is not at hand, or its build id differs */
	MT_END_NO_CFI,	 /* no FDE covers the pc, and no frame-pointer step held */
	MT_END_BAD_CFI,	 /* the FDE is broken */
	MT_END_BAD_CFA,	 /* the frame address leaves the stack, or what stands there is no return
			    address */
	MT_END_LOOP,	 /* the frame address does not rise */
	MT_END_CHAIN, /* the kernel's frame-pointer chain ends, and nothing says that it is whole */
	MT_END_LIMIT, /* --max-stack, or the caller's storage */
	MT_END_BRANCHES,    /* the branch records end: no more were kept, or what is older is not
			       certain */
	MT_END_NO_BRANCHES, /* branches were asked, and the sample has none */
	MT_END_UNTOLD,	    /* another unwinder was asked, which does not say (oracle.h) */
	MT_END_REASONS
};

struct mt_frame {
	uint64_t pc;	/* as found: a return address but for the first frame and one above a signal
			   frame */
	uint64_t sp;	/* the stack pointer in this frame, 0 where not known (kernel, chain) */
	uint8_t source; /* enum mt_frame_source */
	bool call_return; /* pc is a return address: look up pc - 1 */
};

/*
 * Frames that are there already (the kernel's half of the stack) stay: unwinding appends, so the
 * caller sets count, 0 mostly.
 */
struct mt_stack {
	struct mt_frame *frames; /* innermost first; storage is the caller's */
	size_t capacity;
	size_t count;
	enum mt_stack_end end;
	/*
	 * Where the dump ended within the outermost frame: what the stack pointer is in its caller;
	 * 0 where that is not known, and for every other end.
	 */
	uint64_t boundary;
};

/*
 * General registers by DWARF number (x86-64: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7
 * rsp, 8-15 r8-r15, 16 rip).
 */
#define MT_UNWIND_REGS 17
struct mt_unwind_regs {
	uint64_t value[MT_UNWIND_REGS];
	uint32_t valid; /* bit n: value[n] is known */
};

struct mt_unwind_input {
	struct mt_unwind_regs regs;
	bool have_regs;
	const uint8_t
		*dump; /* starts at the stack pointer; borrowed during the call, any alignment */
	size_t dump_size;
	size_t dump_asked; /* what the event asked for; dump_size < dump_asked means that the kernel
			      stopped early */
	const uint64_t *chain; /* the kernel's callchain, user half, innermost first; may be NULL */
	size_t chain_count;
	uint64_t ip; /* the sampled one where it is the user's; 0: the kernel's, or not sampled */
	bool has_branches;		  /* branch records were sampled, maybe 0 of them */
	const struct mt_branch *branches; /* newest first */
	size_t branch_count;
	size_t branches_own;  /* so many of them are this sample's, the others an earlier one's */
	uint64_t branch_type; /* attr->branch_sample_type */
	const struct mt_image_map *map; /* the address space at that time */
};

struct mt_unwind_options {
	uint32_t max_frames; /* at most so many frames a stack, those that were there included; 0:
				the storage alone */
	const struct mt_decoder *decoder; /* of code, for branch records; borrowed, may be NULL */
	bool scan;			  /* "auto" guesses where nothing else is left (guess.c) */
};

/* Cumulative, since the unwinder was made. */
struct mt_unwind_counts {
	uint64_t stacks, frames;
	uint64_t ends[MT_END_REASONS];
	uint64_t cache_misses, slow_steps;
	uint64_t recalled; /* frames: as they were in the thread's last stack */
};

/* One way to unwind; rows of mt_unwind_methods (--unwind NAME). */
struct mt_unwind_method {
	const char *name;
	const char *help;
	/* Fills stack; never fails: the end reason says what stopped it. */
	void (*unwind)(struct mt_unwinder *unwinder, const struct mt_unwind_input *input,
		       struct mt_stack *stack);
	/* Why it cannot be used here, NULL where it can; NULL itself: it always can. */
	const char *(*problem)(void);
};

/*
 * Ends in a row of NULLs. "auto" is the first: dump by CFI, then frame pointers, then the kernel's
 * chain; branch records past it, or where there is no dump; where options.scan is set, a scan.
 */
extern const struct mt_unwind_method mt_unwind_methods[];

/* "auto", which on the way looks at all code that other methods look at: for mtreport --seal. */
extern const struct mt_unwind_method mt_unwind_thorough;

/* The method of that name, or NULL. */
const struct mt_unwind_method *mt_unwind_method_find(const char *name);

/* NULL out of memory. */
struct mt_unwinder *mt_unwinder_create(const struct mt_unwind_options *options);
void mt_unwinder_destroy(struct mt_unwinder *unwinder);
const struct mt_unwind_counts *mt_unwinder_counts(const struct mt_unwinder *unwinder);

/*
 * Asks the processor to fetch what unwinding this sample will probably read of its dump: as much
 * as the stacks before it went through, frame by frame. (What is recalled is read faster than it
 * could be asked for.) Pays where dumps are in memory but not in the processor's cache: call it for
 * the next sample before unwinding this one. Looks at the dump, the map and the pc alone.
 */
void mt_unwind_prefetch(const struct mt_unwinder *unwinder, const struct mt_unwind_input *input);

/*
 * From a perf register set (mask as in perf_event_attr.sample_regs_user, x86-64 numbering) to DWARF
 * numbers; unknown bits are skipped.
 */
void mt_unwind_regs_from_perf(uint64_t mask, const uint64_t *values, struct mt_unwind_regs *out);

/* One word each, for reports: "cfi", "dump too small". */
const char *mt_frame_source_name(enum mt_frame_source source);
const char *mt_stack_end_name(enum mt_stack_end end);

#endif
