/*
 * Prepares records for lbr.c: the kind of each branch, from the kernel or from the instruction, and
 * whether code ran straight to the next branch. Straight means: no instruction in between branches
 * or switches stacks. Without code at hand the distance decides, and indirect jumps are not
 * trusted.
 */
#include "unwind/branches/lbr_walk.h"

#include <stdlib.h>

#include "formats/base/map64.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "symbols/images/image_map.h"
#include "unwind/branches/lbr.h"
#include "unwind/lookup.h"
#include "unwind/walk.h"

enum {
	RUN_MAX = 1 << 16, /* bytes */
	RUN_BLIND = 4096,  /* bytes, without code */
	WINDOW = 16,
	RUNS_BITS = 12,
};

#define KERNEL_HALF ((uint64_t)1 << 63)

enum run_state {
	RUN_UNKNOWN, /* no code at hand */
	RUN_STRAIGHT,
	RUN_BROKEN,
};

/* What is known of the way from start to end, and of the instruction at end. */
struct run {
	uint64_t start, end;
	uint32_t generation; /* 0: empty */
	uint8_t state;	     /* enum run_state */
	uint8_t kind, size;  /* of the instruction at end; size 0: not known */
};

struct mt_branch_runs {
	struct run runs[1 << RUNS_BITS]; /* direct-mapped */
};

void mt_branch_runs_destroy(struct mt_branch_runs *runs)
{
	free(runs);
}

/* ---- Code ---- */

/* The instruction at pc; false where its bytes are not at hand or are none. */
static bool decode(const struct mt_walk *walk, uint64_t pc, struct mt_insn *out, bool *at_hand)
{
	const struct mt_decoder *decoder = walk->unwinder->options.decoder;
	const uint8_t *code = NULL;
	size_t n = WINDOW;

	*at_hand = false;
	if (!decoder || !decoder->ready)
		return false;
	for (; n && !code; n -= !code)
		code = mt_lookup_code(walk->input->map, pc, n, true);
	if (!code || !decoder->ready(decoder->context))
		return false;
	*at_hand = true;
	return decoder->decode(decoder->context, code, n, out);
}

static bool goes_on(const struct mt_insn *insn)
{
	return !insn->loads_sp && (insn->kind == MT_INSN_OTHER || insn->kind == MT_INSN_SYSCALL ||
				   insn->kind == MT_INSN_CONDITIONAL);
}

static struct run follow(const struct mt_walk *walk, uint64_t start, uint64_t end)
{
	struct run run = {.start = start, .end = end, .generation = walk->generation};
	uint64_t pc = start;
	struct mt_insn insn;
	bool at_hand;

	run.state = end < start || end - start > RUN_MAX ? RUN_BROKEN : RUN_STRAIGHT;
	while (run.state == RUN_STRAIGHT && pc < end) {
		if (!decode(walk, pc, &insn, &at_hand))
			run.state = at_hand ? RUN_BROKEN : RUN_UNKNOWN;
		else if (!goes_on(&insn))
			run.state = RUN_BROKEN;
		else
			pc += insn.size;
	}
	if (pc > end && run.state == RUN_STRAIGHT)
		run.state = RUN_BROKEN;
	if (decode(walk, end, &insn, &at_hand)) {
		run.kind = (uint8_t)insn.kind;
		run.size = insn.size;
	} else if (!at_hand && run.state == RUN_STRAIGHT) {
		run.state = RUN_UNKNOWN;
	}
	return run;
}

/* The run from start to end, through the cache; what has no code at hand is not kept. */
static struct run run_between(const struct mt_walk *walk, uint64_t start, uint64_t end)
{
	struct mt_branch_runs **runs = &walk->unwinder->runs;
	uint64_t hash = mt_hash64(mt_hash64(start) ^ end ^ (uint64_t)walk->generation << 40);
	struct run *slot;

	if (!*runs)
		*runs = calloc(1, sizeof(**runs));
	if (!*runs)
		return follow(walk, start, end);
	slot = &(*runs)->runs[hash >> (64 - RUNS_BITS)];
	if (slot->generation != walk->generation || slot->start != start || slot->end != end) {
		struct run run = follow(walk, start, end);

		if (run.state == RUN_UNKNOWN || !run.size)
			return run;
		*slot = run;
	}
	return *slot;
}

/*
 * Whether code can have run from `start` to `end`; `jumped`: start was reached by what is not known
 * or not trusted without code.
 */
static bool is_straight(const struct run *run, bool jumped)
{
	if (run->state != RUN_UNKNOWN)
		return run->state == RUN_STRAIGHT;
	return !jumped && run->end >= run->start && run->end - run->start <= RUN_BLIND;
}

/* ---- Entries ---- */

/* As the kernel classified it, where it did (PERF_BR_*). */
static enum mt_insn_kind kernel_kind(const struct mt_branch *branch)
{
	static const uint8_t kinds[16] = {
		[1] = MT_INSN_CONDITIONAL, [2] = MT_INSN_JUMP,		[3] = MT_INSN_JUMP_INDIRECT,
		[4] = MT_INSN_CALL,	   [5] = MT_INSN_CALL_INDIRECT, [6] = MT_INSN_RETURN,
		[7] = MT_INSN_SYSCALL,	   [9] = MT_INSN_CALL,		[10] = MT_INSN_RETURN,
	};

	return (enum mt_insn_kind)kinds[branch->flags >> MT_BRANCH_FLAGS_TYPE & 15];
}

struct entries {
	struct mt_lbr_entry items[MT_BRANCHES_MAX]; /* oldest first while they are made */
	size_t count;
	uint64_t at; /* where code runs behind the last of them; 0: not known */
	bool jumped; /* it got there by an indirect jump, or by what is not known */
	bool broken; /* and since then it did not run straight */
};

/* Code has come to `to` by what no branch record tells: an interrupt that ends, a signal. */
static void resume(const struct mt_walk *walk, struct entries *entries, uint64_t to)
{
	struct run run = run_between(walk, entries->at, to);

	entries->broken |= !entries->at || !is_straight(&run, entries->jumped);
	entries->jumped = false;
	entries->at = to;
}

static void add(const struct mt_walk *walk, struct entries *entries, const struct mt_branch *branch)
{
	struct run run = run_between(walk, entries->at ? entries->at : branch->from, branch->from);
	struct mt_lbr_entry *entry = &entries->items[entries->count++];
	enum mt_insn_kind told = kernel_kind(branch);

	*entry = (struct mt_lbr_entry){
		.from = branch->from,
		.to = branch->to,
		.kind = told != MT_INSN_OTHER ? told : (enum mt_insn_kind)run.kind,
		.size = run.size,
		.gap = entries->broken || !entries->at || !is_straight(&run, entries->jumped),
	};
	entries->at = branch->to;
	entries->broken = false;
	entries->jumped = entry->kind == MT_INSN_JUMP_INDIRECT || entry->kind == MT_INSN_OTHER;
}

/* Of a branch to or from the kernel only where it comes out matters. */
static void collect(const struct mt_walk *walk, struct entries *entries)
{
	const struct mt_unwind_input *input = walk->input;
	size_t count =
		input->branch_count < MT_BRANCHES_MAX ? input->branch_count : MT_BRANCHES_MAX;

	for (size_t i = count; i--;) {
		const struct mt_branch *branch = &input->branches[i];

		if (!branch->from || !branch->to) { /* left blank */
			entries->at = 0;
			entries->broken = true;
		} else if (branch->to & KERNEL_HALF) {
			continue;
		} else if (branch->from & KERNEL_HALF) {
			resume(walk, entries, branch->to);
		} else {
			add(walk, entries, branch);
		}
	}
}

static void reverse(struct entries *entries)
{
	for (size_t i = 0; i < entries->count / 2; i++) {
		struct mt_lbr_entry *a = &entries->items[i],
				    *b = &entries->items[entries->count - 1 - i], t = *a;

		*a = *b;
		*b = t;
	}
}

/* ---- Frames ---- */

/*
 * Whether the newest call of a hardware call stack shows that pc is in what was called: in the
 * function itself, or anywhere behind a stub, which jumps on, and behind code without CFI.
 */
static bool is_called(const struct mt_unwind_input *input, uint64_t pc)
{
	uint64_t to = input->branches[0].to;
	struct mt_lookup_function called;

	return !mt_lookup_function(input->map, to, &called) || pc - called.start < called.size ||
	       mt_lookup_is_stub(input->map, to);
}

/*
 * Where the user's code was; 0: nothing tells. The sample's own ip comes first: where it is a
 * precise one, registers and the kernel's chain are of the interrupt, some instructions later. Of a
 * call stack it is the first that is in the function called last; where none is, which a tail call
 * does, too, the first of all.
 */
static uint64_t user_ip(const struct mt_unwind_input *input)
{
	const uint64_t ips[] = {
		input->ip,
		input->have_regs && input->regs.valid >> MT_DWARF_RIP & 1
			? input->regs.value[MT_DWARF_RIP]
			: 0,
		input->chain_count ? input->chain[0] : 0,
	};
	bool calls = input->branch_count && mt_branches_are_calls(input);
	uint64_t first = 0;

	for (size_t i = 0; i < sizeof(ips) / sizeof(*ips); i++) {
		if (ips[i] && (!calls || is_called(input, ips[i])))
			return ips[i];
		first = first ? first : ips[i];
	}
	return first;
}

static bool push(struct mt_walk *walk, uint64_t pc, enum mt_frame_source source, bool call_return)
{
	struct mt_frame frame = {.pc = pc, .source = (uint8_t)source, .call_return = call_return};

	return mt_walk_push(walk, &frame);
}

/*
 * A caller: behind its call where that can be told, as other unwinders find it; else at the call.
 */
static bool push_caller(struct mt_walk *walk, uint64_t call, unsigned int size,
			enum mt_frame_source source)
{
	return push(walk, call + size, source, size);
}

static enum mt_stack_end end_of(struct mt_walk *walk)
{
	const struct mt_frame *last = &walk->stack->frames[walk->stack->count - 1];

	if (mt_walk_rule(walk, last->pc, last->call_return).kind == MT_RULE_END)
		return MT_END_ROOT;
	return MT_END_BRANCHES;
}

/* The hardware's own stack of calls. */
static size_t list_calls(const struct mt_walk *walk, struct mt_lbr_entry *out)
{
	const struct mt_unwind_input *input = walk->input;
	size_t n = 0;

	for (; n < input->branch_count && n < MT_BRANCHES_MAX; n++) {
		const struct mt_branch *branch = &input->branches[n];
		struct run run = run_between(walk, branch->from, branch->from);
		bool call = run.kind == MT_INSN_CALL || run.kind == MT_INSN_CALL_INDIRECT;

		if (!branch->from || branch->from & KERNEL_HALF)
			break;
		out[n] = (struct mt_lbr_entry){
			.from = branch->from, .to = branch->to, .size = call ? run.size : 0};
	}
	return n;
}

/*
 * Replays up to the ip. Where that is the newest branch itself, which has been recorded already, it
 * is not taken yet.
 */
static size_t list_replayed(const struct mt_walk *walk, uint64_t ip, struct mt_lbr_entry *out)
{
	struct entries entries;
	uint16_t calls[MT_BRANCHES_MAX];
	struct mt_lbr_entry newest;
	size_t count, skipped;
	bool not_taken;

	entries.count = 0;
	entries.at = 0;
	entries.jumped = entries.broken = true;
	collect(walk, &entries);
	if (!entries.count)
		return 0;
	reverse(&entries);
	newest = entries.items[0];
	not_taken = newest.from == ip && newest.to == entries.at && !newest.gap;
	resume(walk, &entries, ip);
	if (entries.broken && !not_taken)
		return 0;
	skipped = entries.broken;
	count = mt_lbr_replay(entries.items + skipped, entries.count - skipped, calls,
			      MT_BRANCHES_MAX);
	for (size_t i = 0; i < count; i++)
		out[i] = entries.items[calls[i] + skipped];
	return count;
}

bool mt_branches_are_calls(const struct mt_unwind_input *input)
{
	return input->branch_type & MT_BRANCH_CALL_STACK;
}

size_t mt_branches_callers(const struct mt_walk *walk, uint64_t ip, struct mt_lbr_entry *out)
{
	if (mt_branches_are_calls(walk->input))
		return list_calls(walk, out);
	return walk->input->branch_type & MT_BRANCH_ANY ? list_replayed(walk, ip, out) : 0;
}

enum mt_stack_end mt_branches_whole(struct mt_walk *walk)
{
	const struct mt_unwind_input *input = walk->input;
	struct mt_lbr_entry calls[MT_BRANCHES_MAX];
	size_t count;
	uint64_t ip = user_ip(input);

	if (!ip && input->branch_count && mt_branches_are_calls(input))
		ip = input->branches[0].to; /* the function, if not the place in it */
	if (!ip)
		return MT_END_NO_BRANCHES;
	if (!push(walk, ip, MT_FRAME_IP, false))
		return MT_END_LIMIT;
	if (!input->branch_count)
		return MT_END_NO_BRANCHES;
	count = mt_branches_callers(walk, ip, calls);
	for (size_t i = 0; i < count; i++) {
		bool own = i < input->branches_own || !mt_branches_are_calls(input);

		if (!push_caller(walk, calls[i].from, calls[i].size,
				 own ? MT_FRAME_LBR : MT_FRAME_STITCHED))
			return MT_END_LIMIT;
	}
	return end_of(walk);
}
