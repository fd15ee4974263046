/*
 * Runs a program one instruction at a time. Keeps its true call chain and the branch records that
 * hardware would have, and checks the unwinder of branch records against the true chain.
 *
 *	lbr_step [-n DEPTH] [-s EVERY] [-d BYTES] [-o PERF.DATA] [-T TRUTH]
 *		[-t] [-v] PROGRAM [ARG...]
 *
 * -d adds a stack dump of BYTES, a multiple of 8, to the branch records. Unwinding then uses dump
 * and records, and the printed line also says how many callers the dump alone yields.
 *
 * -t starts at the program's first int3. Prints one line: stacks checked, wrong callers, how many
 * of the true callers were found, and in call-stack mode how many records are untrue themselves,
 * because the hardware ignores signals and longjmp. The exit status is 0 if no caller is wrong, if
 * in call-stack mode every caller in the records was found, and if every caller found was one at
 * some time.
 *
 * -o writes the same stacks to a perf.data file, as samples of cycles. -T writes a line for each
 * stack to a file: the number of callers that are correct in the records, the ip, and the return
 * addresses, innermost first. The last line is the word "ever" and every caller there was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "tests/oracle/branch_recorder.h"
#include "tests/oracle/perf_file.h"
#include "tests/oracle/stepper.h"
#include "unwind/unwind.h"

enum {
	DUMP_MAX = 65528,
};

struct run {
	struct stepper stepper;
	struct branch_recorder recorder;
	struct mt_unwinder *unwinder;
	size_t every, dump_size;
	uint8_t dump[DUMP_MAX];
	size_t without;		/* callers that the dump alone yields */
	bool dump_wrong;	/* the callers that the dump alone yields are wrong */
	struct perf_file *file; /* NULL: no file is written */
	FILE *truth;
	bool to_trap, verbose;
	size_t step, looked, wrong, missed, untrue;
	size_t callers, depth; /* sums over all stacks: callers found, and true callers */
	size_t whole;	       /* stacks found up to the outermost caller */
	struct mt_map64 ever;  /* return addresses that calls put on a stack */
	MT_ARRAY(uint64_t) list;
	size_t invented; /* frames that were never callers */
};

/* The return address at depth i; 0 is the innermost caller. */
static const struct stepper_entry *caller(const struct run *run, size_t i)
{
	return i < run->stepper.depth ? &run->stepper.chain[run->stepper.depth - 1 - i] : NULL;
}

/*
 * Number of callers that are correct in the records, with the same stack slots as the true callers.
 */
static size_t reported(const struct run *run)
{
	size_t i = 0;

	while (i < run->recorder.count && i < run->stepper.depth &&
	       caller(run, i)->slot == run->recorder.calls[i].slot &&
	       caller(run, i)->pc == run->recorder.calls[i].pc)
		i++;
	return i;
}

static void print_stacks(const struct run *run, const struct mt_stack *stack)
{
	printf("# step %zu at %llx: %s\n", run->step, run->stepper.regs.rip,
	       mt_stack_end_name(stack->end));
	for (size_t i = 1; i < stack->count || i <= run->stepper.depth; i++)
		printf("#   true %12lx  ours %12lx\n",
		       caller(run, i - 1) ? caller(run, i - 1)->pc : 0,
		       i < stack->count ? stack->frames[i].pc : 0);
	for (size_t i = 0; i < run->recorder.count; i++)
		printf("#   %lx -> %lx\n", run->recorder.records[i].from,
		       run->recorder.records[i].to);
}

/* Notes the return address that a call has just put on the stack. */
static void note_caller(struct run *run)
{
	const struct stepper_entry *newest = caller(run, 0);
	uint64_t ignored, *slot;

	if (!newest || mt_map64_get(&run->ever, newest->pc, &ignored))
		return;
	slot = mt_array_push(&run->list);
	if (!slot || !mt_map64_put(&run->ever, newest->pc, 1))
		stepper_die("memory");
	*slot = newest->pc;
}

static size_t count_invented(const struct run *run, const struct mt_stack *stack)
{
	size_t count = 0;
	uint64_t ignored;

	for (size_t i = 1; i < stack->count; i++)
		count += stack->frames[i].source >= MT_FRAME_LBR &&
			 !mt_map64_get(&run->ever, stack->frames[i].pc, &ignored);
	return count;
}

/* Number of a stack's callers that are true. */
static size_t count_same(const struct run *run, const struct mt_stack *stack)
{
	size_t same = 0;

	while (same + 1 < stack->count && caller(run, same) &&
	       caller(run, same)->pc == stack->frames[same + 1].pc)
		same++;
	return same;
}

/* If there is a dump, a wrong caller counts only if the dump alone yields the right one. */
static void judge(struct run *run, const struct mt_stack *stack)
{
	size_t found = stack->count ? stack->count - 1 : 0, can = reported(run);
	size_t same = count_same(run, stack);
	bool untrue = can < run->recorder.count, missed, bad;
	/* the frames from before the int3 are not known, but a dump may contain them */
	bool beyond = run->dump_size && run->to_trap && same == run->stepper.depth;

	missed = same < can && !run->dump_size;
	bad = !stack->count || stack->frames[0].pc != run->stepper.regs.rip;
	if (!beyond)
		bad |= same < found && (run->dump_size ? !run->dump_wrong : !untrue);
	run->invented += count_invented(run, stack);
	run->missed += missed;
	run->untrue += untrue;
	run->wrong += bad;
	run->looked++;
	run->callers += same;
	run->depth += run->stepper.depth;
	run->whole += same == run->stepper.depth;
	if (run->verbose && (bad || missed))
		print_stacks(run, stack);
}

static void write_truth(const struct run *run)
{
	fprintf(run->truth, "%zu %llx", reported(run), run->stepper.regs.rip);
	for (size_t i = 0; caller(run, i); i++)
		fprintf(run->truth, " %lx", caller(run, i)->pc);
	fputc('\n', run->truth);
}

static void write_callers(const struct run *run)
{
	fputs("ever", run->truth);
	for (size_t i = 0; i < run->list.count; i++)
		fprintf(run->truth, " %lx", run->list.items[i]);
	fputc('\n', run->truth);
}

/* Adds the dump to the branch records, and counts the callers that the dump alone yields. */
static void add_dump(struct run *run, struct mt_unwind_input *input)
{
	struct mt_frame frames[STEPPER_DEPTH_MAX];
	struct mt_stack stack = {.frames = frames, .capacity = STEPPER_DEPTH_MAX};
	struct mt_unwind_input alone;

	stepper_get_regs(&run->stepper, &input->regs);
	input->have_regs = true;
	input->dump = run->dump;
	input->dump_asked = run->dump_size;
	input->dump_size = stepper_read_dump(&run->stepper, run->dump, run->dump_size);
	alone = *input;
	alone.has_branches = false;
	alone.branch_count = 0;
	mt_unwind_method_find("auto")->unwind(run->unwinder, &alone, &stack);
	run->without += count_same(run, &stack);
	run->dump_wrong = count_same(run, &stack) + 1 < stack.count;
}

static void check(struct run *run)
{
	struct mt_frame frames[STEPPER_DEPTH_MAX];
	struct mt_stack stack = {.frames = frames, .capacity = STEPPER_DEPTH_MAX};
	struct mt_unwind_input input = {
		.ip = run->stepper.regs.rip,
		.has_branches = true,
		.branches = run->recorder.records,
		.branch_count = run->recorder.count,
	};

	if (run->stepper.remap) {
		stepper_read_mappings(&run->stepper);
		if (run->file)
			perf_file_map(run->file, run->stepper.pid, run->stepper.map);
	}
	input.map = run->stepper.map;
	if (run->dump_size)
		add_dump(run, &input);
	mt_unwind_method_find(run->dump_size ? "auto" : "lbr")
		->unwind(run->unwinder, &input, &stack);
	judge(run, &stack);
	if (run->file)
		perf_file_sample(run->file, run->stepper.pid, &input);
	if (run->truth)
		write_truth(run);
}

static bool parse(struct run *run, int argc, char **argv)
{
	const char *file = NULL, *truth = NULL;
	int option;

	while ((option = getopt(argc, argv, "+n:s:d:o:T:tv")) != -1) {
		if (option == 'n')
			run->recorder.depth = strtoul(optarg, NULL, 0);
		else if (option == 's')
			run->every = strtoul(optarg, NULL, 0);
		else if (option == 'd')
			run->dump_size = strtoul(optarg, NULL, 0);
		else if (option == 'o')
			file = optarg;
		else if (option == 'T')
			truth = optarg;
		else if (option == 't')
			run->to_trap = true;
		else if (option == 'v')
			run->verbose = true;
		else
			return false;
	}
	if (optind == argc || !run->every || run->dump_size > DUMP_MAX || run->dump_size % 8 ||
	    !run->recorder.depth || run->recorder.depth > RECORDER_DEPTH_MAX)
		return false;
	run->truth = truth ? fopen(truth, "we") : NULL;
	run->file = file ? perf_file_create(file, run->dump_size) : NULL;
	if ((truth && !run->truth) || (file && !run->file))
		stepper_die(truth && !run->truth ? truth : file);
	return true;
}

static void follow(struct run *run)
{
	do {
		branch_recorder_follow(&run->recorder, &run->stepper);
		note_caller(run);
		if (run->step++ % run->every == 0)
			check(run);
	} while (stepper_step(&run->stepper));
}

static void print_tally(const struct run *run)
{
	printf("%zu stacks, %zu wrong, %zu short of what the records tell, %zu untrue records, "
	       "%zu invented frames, %.1f of %.1f callers, %.1f %% whole\n",
	       run->looked, run->wrong, run->missed, run->untrue, run->invented,
	       (double)run->callers / (double)run->looked, (double)run->depth / (double)run->looked,
	       100. * (double)run->whole / (double)run->looked);
	if (run->dump_size)
		printf("the dump alone gives %.2f callers, both %.2f\n",
		       (double)run->without / (double)run->looked,
		       (double)run->callers / (double)run->looked);
}

int main(int argc, char **argv)
{
	static struct run run = {.every = 1, .recorder = {.depth = 32}};
	struct mt_unwind_options options = {0};

	if (!parse(&run, argc, argv))
		return 2;
	stepper_init(&run.stepper, argv + optind);
	if (run.to_trap && !stepper_run_to_trap(&run.stepper))
		stepper_die("no int3 was reached");
	run.unwinder = mt_unwinder_create(&options);
	if (!run.unwinder)
		stepper_die("start");
	follow(&run);
	print_tally(&run);
	if (run.file && !perf_file_finish(run.file))
		stepper_die("the perf.data file");
	if (run.truth) {
		write_callers(&run);
		fclose(run.truth);
	}
	mt_array_deinit(&run.list);
	mt_map64_deinit(&run.ever);
	mt_unwinder_destroy(run.unwinder);
	if (!WIFEXITED(run.stepper.status) || WEXITSTATUS(run.stepper.status)) {
		printf("# the program ended with status 0x%x\n", run.stepper.status);
		return 1;
	}
	stepper_deinit(&run.stepper);
	return run.wrong || run.missed || run.invented;
}
