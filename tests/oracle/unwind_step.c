/*
 * Runs a program one instruction at a time, keeps its true call chain by watching calls and
 * returns, and holds the unwinder against it at every instruction: in prologues, epilogues, PLT
 * stubs, signal frames, the dynamic linker, the vdso. No CFI has a part in the truth.
 *
 *	unwind_step [-e N] [-j N] [-v] PROGRAM [ARG...]
 *
 * Prints one line: instructions, how many stacks were whole, short with which reason, wrong. Exit
 * 0: none wrong, short at N instructions at most (-e, 0), already past a longjmp that is under way
 * at N at most (-j, 0).
 *
 * An entry of the chain lives at the stack slot of its return address and goes when the stack
 * pointer rises past it, by return, longjmp or sigreturn alike. Programs that switch stacks to
 * lower addresses than they came from are as good, others are not.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/image.h"
#include "symbols/image_map.h"
#include "unwind/unwind.h"

#define DEPTH_MAX 512
#define DUMP_SIZE 16384
#define INSTRUCTION_MAX 15

struct entry {
	uint64_t slot; /* where the return address stands */
	uint64_t pc;
};

struct tracee {
	pid_t pid;
	struct user_regs_struct regs;
	struct entry chain[DEPTH_MAX];
	size_t depth;
	bool remap;    /* the mappings may have changed */
	uint64_t held; /* the stack pointer above a return address that was popped into a register,
			  or 0 */
	uint8_t dump[DUMP_SIZE];
	struct mt_image_set *images;
	struct mt_image_map *map;
	struct mt_unwinder *unwinder;
};

struct tally {
	size_t steps, whole, jumped, wrong;
	size_t ends[MT_END_REASONS]; /* of short ones */
	bool verbose;
};

static void die(const char *what)
{
	fprintf(stderr, "unwind_step: %s: %s\n", what, strerror(errno));
	exit(2);
}

static size_t read_memory(const struct tracee *t, uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)address, .iov_len = size};
	ssize_t n = process_vm_readv(t->pid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

/* Page by page, as the kernel dumps a stack. */
static size_t read_dump(struct tracee *t)
{
	struct iovec local = {.iov_base = t->dump, .iov_len = DUMP_SIZE},
		     remote[DUMP_SIZE / 4096 + 1];
	uint64_t address = t->regs.rsp, end = address + DUMP_SIZE;
	size_t n = 0;
	ssize_t got;

	while (address < end) {
		uint64_t next = (address | 4095) + 1;

		if (next > end)
			next = end;
		remote[n++] =
			(struct iovec){.iov_base = (void *)address, .iov_len = next - address};
		address = next;
	}
	got = process_vm_readv(t->pid, &local, 1, remote, n, 0);
	return got > 0 ? (size_t)got & ~(size_t)7 : 0;
}

static void add_mapping(struct tracee *t, const char *line)
{
	struct mt_mapping m = {0};
	struct mt_image_identity identity = {.path = "//anon"};
	char prot[5], path[512] = "";
	unsigned long inode;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %511[^\n]", &m.start, &m.end, prot, &m.offset,
		   &identity.device_major, &identity.device_minor, &inode, path) < 7)
		return;
	identity.inode = inode;
	if (path[0])
		identity.path = path;
	m.prot = (prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ? PROT_WRITE : 0) |
		 (prot[2] == 'x' ? PROT_EXEC : 0);
	m.image = mt_image_set_intern(t->images, &identity);
	if (!m.image || !mt_image_map_insert(t->map, &m))
		die("mappings");
}

static void read_mappings(struct tracee *t)
{
	char name[64], line[1024];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", t->pid);
	f = fopen(name, "re");
	if (!f)
		return;
	mt_image_map_clear(t->map);
	while (fgets(line, sizeof(line), f))
		add_mapping(t, line);
	fclose(f);
	t->remap = false;
}

static void push(struct tracee *t, uint64_t slot, uint64_t pc)
{
	if (t->depth == DEPTH_MAX) {
		errno = E2BIG;
		die("call chain");
	}
	t->chain[t->depth++] = (struct entry){.slot = slot, .pc = pc};
}

static void pop_to(struct tracee *t, uint64_t sp)
{
	while (t->depth && t->chain[t->depth - 1].slot < sp)
		t->depth--;
}

/* Prefixes, then e8 or ff /2. */
static bool is_call(const uint8_t *code)
{
	while (*code == 0x66 || *code == 0x67 || *code == 0xf2 || *code == 0xf3 || *code == 0x2e ||
	       *code == 0x3e || (*code & 0xf0) == 0x40)
		code++;
	return code[0] == 0xe8 || (code[0] == 0xff && (code[1] >> 3 & 7) == 2);
}

static bool is_syscall(const uint8_t *code)
{
	return code[0] == 0x0f && code[1] == 0x05;
}

/* Signals are delivered here: the handler's return address, and the interrupted frame behind it. */
static void enter_handler(struct tracee *t, const struct user_regs_struct *before)
{
	uint64_t restorer;

	if (t->regs.rip == before->rip || read_memory(t, t->regs.rsp, &restorer, 8) != 8)
		return;
	push(t, before->rsp - 8, before->rip);
	push(t, t->regs.rsp, restorer);
}

/*
 * pop %reg of a return address: it may be pushed again, and is not gone while the stack pointer
 * stays.
 */
static bool holds(struct tracee *t, const uint8_t *code)
{
	if (*code == 0x41)
		code++;
	if ((*code & 0xf8) == 0x58 && t->depth && t->chain[t->depth - 1].slot + 8 == t->regs.rsp)
		t->held = t->regs.rsp;
	else if (t->regs.rsp != t->held)
		t->held = 0;
	return t->held;
}

static void follow(struct tracee *t, const struct user_regs_struct *before, const uint8_t *code)
{
	uint64_t pc;

	if (!holds(t, code))
		pop_to(t, t->regs.rsp);
	if (t->regs.rsp == before->rsp - 8 && is_call(code) &&
	    read_memory(t, t->regs.rsp, &pc, 8) == 8 && pc - before->rip <= INSTRUCTION_MAX)
		push(t, t->regs.rsp, pc);
	t->remap |= is_syscall(code);
}

/* False when the program has ended; *status is then its wait status. */
static bool step(struct tracee *t, int *status)
{
	struct user_regs_struct before = t->regs;
	uint8_t code[16] = {0};
	int sig = 0;

	read_memory(t, before.rip, code, sizeof(code));
	if (WIFSTOPPED(*status) && WSTOPSIG(*status) != SIGTRAP)
		sig = WSTOPSIG(*status);
	if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, (void *)(long)sig) ||
	    waitpid(t->pid, status, 0) != t->pid || !WIFSTOPPED(*status) ||
	    ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs))
		return false;
	if (sig)
		enter_handler(t, &before);
	else
		follow(t, &before, code);
	return true;
}

static void fill_regs(const struct user_regs_struct *r, struct mt_unwind_regs *out)
{
	const uint64_t values[MT_UNWIND_REGS] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
						 r->rbp, r->rsp, r->r8,	 r->r9,	 r->r10, r->r11,
						 r->r12, r->r13, r->r14, r->r15, r->rip};

	memcpy(out->value, values, sizeof(values));
	out->valid = (1u << MT_UNWIND_REGS) - 1;
}

static void print_stacks(const struct tracee *t, const struct mt_stack *stack)
{
	printf("# at %llx sp %llx: %s\n", t->regs.rip, t->regs.rsp, mt_stack_end_name(stack->end));
	for (size_t i = 0; i < stack->count || i <= t->depth; i++) {
		uint64_t truth = i ? 0 : t->regs.rip;
		const struct mt_mapping *m;

		if (i && i <= t->depth)
			truth = t->chain[t->depth - i].pc;
		m = mt_image_map_find(t->map, truth);
		printf("#   true %12lx %s+%lx", truth, m ? m->image->basename : "",
		       m ? mt_mapping_file_offset(m, truth) : 0);
		if (i < stack->count)
			printf("  ours %12lx %s sp %lx", stack->frames[i].pc,
			       mt_frame_source_name(stack->frames[i].source), stack->frames[i].sp);
		printf("\n");
	}
}

/*
 * Behind the first frame ours goes on where the chain is cut by the longjmp under way: what will be
 * true in a moment.
 */
static bool jumped(const struct tracee *t, const struct mt_stack *stack)
{
	size_t skipped = t->depth + 1 - stack->count;

	if (stack->count > t->depth + 2 || stack->count < 2 ||
	    (stack->end != MT_END_ROOT && stack->end != MT_END_STACK))
		return false;
	for (size_t i = 2; i < stack->count; i++) {
		if (stack->frames[i].pc != t->chain[t->depth - i - skipped].pc)
			return false;
	}
	return stack->frames[0].pc == t->regs.rip;
}

static void judge(const struct tracee *t, const struct mt_stack *stack, struct tally *tally)
{
	size_t same = stack->frames[0].pc == t->regs.rip;

	while (same && same < stack->count && same <= t->depth &&
	       stack->frames[same].pc == t->chain[t->depth - same].pc)
		same++;
	if (same == stack->count && same == t->depth + 1) {
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
	struct mt_frame frames[DEPTH_MAX];
	struct mt_stack stack = {.frames = frames, .capacity = DEPTH_MAX};
	struct mt_unwind_input input = {
		.have_regs = true, .dump = t->dump, .dump_asked = DUMP_SIZE};

	if (t->remap)
		read_mappings(t);
	fill_regs(&t->regs, &input.regs);
	input.dump_size = read_dump(t);
	input.map = t->map;
	mt_unwind_methods[0].unwind(t->unwinder, &input, &stack);
	tally->steps++;
	judge(t, &stack, tally);
}

/* Tracer and tracee take turns: on one CPU that takes little more than half the time. */
static void stay_on_this_cpu(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static pid_t start(char **argv)
{
	pid_t pid;

	stay_on_this_cpu();
	pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		die(argv[0]);
	}
	return pid;
}

static void init(struct tracee *t, char **argv, int *status)
{
	const struct mt_unwind_options options = {0};

	t->images = mt_image_set_create();
	t->map = mt_image_map_create();
	t->unwinder = mt_unwinder_create(&options);
	if (!t->images || !t->map || !t->unwinder ||
	    !mt_image_set_add_source(t->images, &mt_image_source_local, NULL))
		die("start");
	t->pid = start(argv);
	t->remap = true;
	if (waitpid(t->pid, status, 0) != t->pid || !WIFSTOPPED(*status) ||
	    ptrace(PTRACE_SETOPTIONS, t->pid, NULL, (void *)PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs))
		die(argv[0]);
}

static void deinit(struct tracee *t)
{
	mt_unwinder_destroy(t->unwinder);
	mt_image_map_destroy(t->map);
	mt_image_set_destroy(t->images);
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
	init(&t, argv + optind, &status);
	do
		check(&t, &tally);
	while (step(&t, &status));
	shorter = print_tally(&tally);
	deinit(&t);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		printf("# the program ended with status 0x%x\n", status);
		return 1;
	}
	return tally.wrong || shorter > allowed || tally.jumped > jumps;
}
