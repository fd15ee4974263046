/* The unwinder's interface: creation, methods, counts, and the names of sources and ends. */
#include "unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/memory.h"
#include "symbols/images/image_map.h"
#include "unwind/walk.h"

#define NEEDED (1u << MT_DWARF_RIP | 1u << MT_DWARF_RSP)

struct mt_unwinder *mt_unwinder_create(const struct mt_unwind_options *options)
{
	struct mt_unwinder *unwinder = mt_alloc(1, sizeof(*unwinder));
	size_t size = MT_CACHE_ENTRIES * sizeof(*unwinder->cache);

	if (!unwinder)
		return NULL;
	unwinder->options = *options;
	unwinder->cache = aligned_alloc(64, size);
	unwinder->returns = mt_alloc(MT_SEEN_CODE, sizeof(*unwinder->returns));
	unwinder->places = mt_alloc(MT_SEEN_CODE, sizeof(*unwinder->places));
	if (!unwinder->cache || !unwinder->returns || !unwinder->places) {
		mt_memory_failed();
		mt_unwinder_destroy(unwinder);
		return NULL;
	}
	memset(unwinder->cache, 0, size);
	return unwinder;
}

void mt_unwinder_destroy(struct mt_unwinder *unwinder)
{
	if (!unwinder)
		return;
	if (unwinder->oracle)
		unwinder->oracle_destroy(unwinder->oracle);
	free(unwinder->cache);
	free(unwinder->returns);
	free(unwinder->places);
	free(unwinder);
}

const struct mt_unwind_counts *mt_unwinder_counts(const struct mt_unwinder *unwinder)
{
	return &unwinder->counts;
}

static bool have_regs(const struct mt_unwind_input *input)
{
	return input->have_regs && (input->regs.valid & NEEDED) == NEEDED;
}

/* Sets the end of a stack, and adds the stack to the counts. */
static void finish(struct mt_walk *walk, enum mt_stack_end end)
{
	struct mt_unwind_counts *counts = &walk->unwinder->counts;

	walk->stack->end = end;
	walk->stack->boundary = end == MT_END_DUMP || end == MT_END_PAGE ? walk->boundary : 0;
	counts->stacks++;
	counts->frames += walk->stack->count - walk->first;
	counts->ends[end]++;
}

/* Whether the kernel's callchain may continue a stack that ended for this reason. */
static bool chain_may_help(enum mt_stack_end end)
{
	return end != MT_END_ROOT && end != MT_END_LIMIT;
}

/* Unwinds a sample without a dump by the best method. */
static enum mt_stack_end without_dump(struct mt_walk *walk)
{
	const struct mt_unwind_input *input = walk->input;

	if (input->branch_count)
		return mt_branches_whole(walk);
	if (input->chain_count)
		return mt_chain_whole(walk);
	if (input->has_branches)
		return mt_branches_whole(walk);
	return have_regs(input) ? mt_walk_dump(walk) : MT_END_NO_REGS;
}

static void unwind_auto(struct mt_unwinder *unwinder, const struct mt_unwind_input *input,
			struct mt_stack *stack)
{
	enum mt_stack_end end;
	struct mt_walk walk;

	mt_walk_init(&walk, unwinder, input, stack);
	if (have_regs(input) && walk.dump.size) {
		end = mt_walk_dump(&walk);
		if (chain_may_help(end))
			end = mt_chain_splice(&walk, end);
		if (chain_may_help(end))
			end = mt_branches_splice(&walk, end);
		if (unwinder->options.scan)
			end = mt_scan_splice(&walk, end);
	} else {
		end = without_dump(&walk);
	}
	finish(&walk, end);
}

static void unwind_dwarf(struct mt_unwinder *unwinder, const struct mt_unwind_input *input,
			 struct mt_stack *stack)
{
	struct mt_walk walk;

	mt_walk_init(&walk, unwinder, input, stack);
	walk.use_fp = false;
	finish(&walk, have_regs(input) ? mt_walk_dump(&walk) : MT_END_NO_REGS);
}

static void unwind_fp(struct mt_unwinder *unwinder, const struct mt_unwind_input *input,
		      struct mt_stack *stack)
{
	enum mt_stack_end end = MT_END_NO_REGS;
	struct mt_walk walk;

	mt_walk_init(&walk, unwinder, input, stack);
	if (input->chain_count)
		end = mt_chain_whole(&walk);
	else if (have_regs(input))
		end = mt_walk_fp(&walk);
	finish(&walk, end);
}

static void unwind_lbr(struct mt_unwinder *unwinder, const struct mt_unwind_input *input,
		       struct mt_stack *stack)
{
	struct mt_walk walk;

	mt_walk_init(&walk, unwinder, input, stack);
	finish(&walk, mt_branches_whole(&walk));
}

/*
 * Also builds a stack from branch records, only because this reads code that unwind_auto() may not
 * read. That stack is dropped.
 */
static void unwind_thorough(struct mt_unwinder *unwinder, const struct mt_unwind_input *input,
			    struct mt_stack *stack)
{
	struct mt_frame frames[MT_BRANCHES_MAX + 2];
	struct mt_stack aside = {.frames = frames, .capacity = MT_BRANCHES_MAX + 2};
	struct mt_walk walk;

	if (input->branch_count) {
		mt_walk_init(&walk, unwinder, input, &aside);
		(void)mt_branches_whole(&walk);
	}
	unwind_auto(unwinder, input, stack);
}

const struct mt_unwind_method mt_unwind_thorough = {
	"thorough", "auto, having looked at all that any method looks at", unwind_thorough, NULL};

const struct mt_unwind_method mt_unwind_methods[] = {
	{"auto",
	 "CFI, frame pointers where there is none, the kernel's chain past the dump, and a "
	 "hardware call stack past it or where there is no dump",
	 unwind_auto, NULL},
	{"dwarf", "CFI through the stack dump alone", unwind_dwarf, NULL},
	{"fp", "the kernel's frame-pointer chain, or frame pointers through the dump", unwind_fp,
	 NULL},
	{"lbr", "the hardware call stack of branch records alone", unwind_lbr, NULL},
	{NULL, NULL, NULL, NULL},
};

const struct mt_unwind_method *mt_unwind_method_find(const char *name)
{
	for (const struct mt_unwind_method *m = mt_unwind_methods; m->name; m++) {
		if (!strcmp(m->name, name))
			return m;
	}
	return NULL;
}

const char *mt_frame_source_name(enum mt_frame_source source)
{
	static const char *const names[MT_FRAME_SOURCES] = {
		[MT_FRAME_IP] = "ip",
		[MT_FRAME_KERNEL] = "kernel",
		[MT_FRAME_CFI] = "cfi",
		[MT_FRAME_FP] = "fp",
		[MT_FRAME_CHAIN] = "chain",
		[MT_FRAME_LBR] = "lbr",
		[MT_FRAME_STITCHED] = "stitched lbr",
		[MT_FRAME_JOINED] = "joined",
		[MT_FRAME_SCANNED] = "scanned",
	};

	return (unsigned int)source < MT_FRAME_SOURCES ? names[source] : "unknown";
}

const char *mt_stack_end_name(enum mt_stack_end end)
{
	static const char *const names[MT_END_REASONS] = {
		[MT_END_ROOT] = "root",
		[MT_END_NO_REGS] = "no user registers",
		[MT_END_NO_DUMP] = "no stack dump",
		[MT_END_DUMP] = "dump too small",
		[MT_END_PAGE] = "stack page absent",
		[MT_END_STACK] = "another stack",
		[MT_END_NO_IMAGE] = "no mapping",
		[MT_END_NO_ELF] = "image not at hand",
		[MT_END_NO_CFI] = "no CFI",
		[MT_END_BAD_CFI] = "broken CFI",
		[MT_END_BAD_CFA] = "bad frame address",
		[MT_END_LOOP] = "loop",
		[MT_END_CHAIN] = "frame-pointer chain ends",
		[MT_END_LIMIT] = "frame limit",
		[MT_END_BRANCHES] = "branch records end",
		[MT_END_NO_BRANCHES] = "no hardware call stack",
		[MT_END_UNREPORTED] = "not told",
	};

	return (unsigned int)end < MT_END_REASONS ? names[end] : "unknown";
}
