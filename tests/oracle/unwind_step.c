/*
 * Runs a program one instruction at a time and keeps its true call chain by watching calls and
 * returns. Checks the unwinder against the chain at every instruction: in prologues, epilogues, PLT
 * stubs, signal frames, the dynamic linker and the vdso. The true chain does not depend on CFI.
 *
 *	unwind_step [-e N] [-j N] [-v] PROGRAM [ARG...]
 *
 * Prints one line: the number of instructions, and how many stacks were complete, short (by reason)
 * and wrong. The exit status is 0 if no stack is wrong, at most N are short (-e, default 0), and at
 * most N already show the target of a running longjmp (-j, default 0).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "tests/oracle/stepper.h"
#include "unwind/unwind.h"

#define DUMP_SIZE 16384

struct tracee {
	struct stepper stepper;
	uint8_t dump[DUMP_SIZE];
	struct mt_unwinder *unwinder;
};

struct tally {
	size_t steps, whole, jumped, wrong;
	size_t ends[MT_END_REASONS]; /* number of short stacks, by reason */
	bool verbose;
};

static void print_stacks(const struct tracee *t, const struct mt_stack *stack)
{
	printf("# at %llx sp %llx: %s\n", t->stepper.regs.rip, t->stepper.regs.rsp,
	       mt_stack_end_name(stack->end));
	for (size_t i = 0; i < stack->count || i <= t->stepper.depth; i++) {
		uint64_t truth = i ? 0 : t->stepper.regs.rip;
		const struct mt_mapping *m;

		if (i && i <= t->stepper.depth)
			truth = t->stepper.chain[t->stepper.depth - i].pc;
		m = mt_image_map_find(t->stepper.map, truth);
		printf("#   true %12lx %s+%lx", truth, m ? m->image->basename : "",
		       m ? mt_mapping_file_offset(m, truth) : 0);
		if (i < stack->count)
			printf("  ours %12lx %s sp %lx", stack->frames[i].pc,
			       mt_frame_source_name(stack->frames[i].source), stack->frames[i].sp);
		printf("\n");
	}
}

/*
 * Whether the stack is already the one after a running longjmp: apart from its first two frames, it
 * is the part of the chain that longjmp will keep.
 */
static bool jumped(const struct tracee *t, const struct mt_stack *stack)
{
	size_t skipped = t->stepper.depth + 1 - stack->count;

	if (stack->count > t->stepper.depth + 2 || stack->count < 2 ||
	    (stack->end != MT_END_ROOT && stack->end != MT_END_STACK))
		return false;
	for (size_t i = 2; i < stack->count; i++) {
		if (stack->frames[i].pc != t->stepper.chain[t->stepper.depth - i - skipped].pc)
			return false;
	}
	return stack->frames[0].pc == t->stepper.regs.rip;
}

static void judge(const struct tracee *t, const struct mt_stack *stack, struct tally *tally)
{
	size_t same = stack->frames[0].pc == t->stepper.regs.rip;

	while (same && same < stack->count && same <= t->stepper.depth &&
	       stack->frames[same].pc == t->stepper.chain[t->stepper.depth - same].pc)
		same++;
	if (same == stack->count && same == t->stepper.depth + 1) {
		tally->whole++;
		return;
	}
	if (jumped(t, stack))
		tally->jumped++;
	else if (same == stack->count && stack->end != MT_END_ROOT)
		tally->ends[stack->end]++;
	else
		tally->wrong++;
	if (tally->verbose)
		print_stacks(t, stack);
}

static void check(struct tracee *t, struct tally *tally)
{
	struct mt_frame frames[STEPPER_DEPTH_MAX];
	struct mt_stack stack = {.frames = frames, .capacity = STEPPER_DEPTH_MAX};
	struct mt_unwind_input input = {
		.have_regs = true, .dump = t->dump, .dump_asked = DUMP_SIZE};

	if (t->stepper.remap)
		stepper_read_mappings(&t->stepper);
	stepper_get_regs(&t->stepper, &input.regs);
	input.dump_size = stepper_read_dump(&t->stepper, t->dump, DUMP_SIZE);
	input.map = t->stepper.map;
	mt_unwind_methods[0].unwind(t->unwinder, &input, &stack);
	tally->steps++;
	judge(t, &stack, tally);
}

static void init(struct tracee *t, char **argv)
{
	const struct mt_unwind_options options = {0};

	stepper_init(&t->stepper, argv);
	t->unwinder = mt_unwinder_create(&options);
	if (!t->unwinder)
		stepper_die("start");
}

static void deinit(struct tracee *t)
{
	mt_unwinder_destroy(t->unwinder);
	stepper_deinit(&t->stepper);
}

static size_t print_tally(const struct tally *tally)
{
	size_t shorter = tally->steps - tally->whole - tally->jumped - tally->wrong;

	printf("%zu instructions, %zu whole, %zu in a longjmp, %zu short, %zu wrong", tally->steps,
	       tally->whole, tally->jumped, shorter, tally->wrong);
	for (int i = 0; i < MT_END_REASONS; i++) {
		if (tally->ends[i])
			printf(", %zu %s", tally->ends[i], mt_stack_end_name(i));
	}
	printf("\n");
	return shorter;
}

int main(int argc, char **argv)
{
	static struct tracee t;
	struct tally tally = {0};
	size_t allowed = 0, jumps = 0, shorter;
	int option, status;

	while ((option = getopt(argc, argv, "+e:j:v")) != -1) {
		if (option == 'e')
			allowed = strtoul(optarg, NULL, 0);
		else if (option == 'j')
			jumps = strtoul(optarg, NULL, 0);
		else if (option == 'v')
			tally.verbose = true;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	init(&t, argv + optind);
	do
		check(&t, &tally);
	while (stepper_step(&t.stepper));
	shorter = print_tally(&tally);
	status = t.stepper.status;
	deinit(&t);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		printf("# the program ended with status 0x%x\n", status);
		return 1;
	}
	return tally.wrong || shorter > allowed || tally.jumped > jumps;
}
