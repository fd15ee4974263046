/*
 * Faults pages on stacks that are swapped, left by longjmp and by exceptions, for the joiner: every
 * way W has functions root_W, middle_W and leaf_W of its own, so a stack with leaf_W may hold no
 * function of another way. Deep calls keep 24 KiB on the stack, so that a small dump ends within
 * middle_W; every other call is shallow, so that its stack is whole.
 *
 *	swapped ROUNDS
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))
#define STACK (256 << 10)

static char *page, *pages_end;
static jmp_buf back;
static ucontext_t main_context, first, second;

static NOINLINE void touch()
{
	if (page < pages_end)
		*(volatile char *)page = 1;
	page += 4096;
}

static void nothing() {}
static void jump()
{
	longjmp(back, 1);
}
static void raise_it()
{
	throw 1;
}
static void to_second()
{
	swapcontext(&first, &second);
}
static void to_first()
{
	swapcontext(&second, &first);
}

/* What to do in the leaf behind the fault. */
#define WAY(name, leave)                                     \
	static NOINLINE int leaf_##name(int round)           \
	{                                                    \
		touch();                                     \
		leave();                                     \
		return round + 1;                            \
	}                                                    \
	static NOINLINE int middle_##name(int round)         \
	{                                                    \
		volatile char large[24 << 10];               \
		for (unsigned i = 0; i < sizeof(large); i += 1024) \
			large[i] = 1;                        \
		return leaf_##name(round) + large[1024];     \
	}                                                    \
	static NOINLINE int root_##name(int round)           \
	{                                                    \
		return (round & 1 ? leaf_##name(round) : middle_##name(round)) + 1; \
	}

WAY(plain, nothing)
WAY(jumping, jump)
WAY(throwing, raise_it)
WAY(signal, nothing)
WAY(one, to_second)
WAY(two, to_first)
WAY(three, nothing)
WAY(four, nothing)

static int rounds;

static void run_one()
{
	for (int i = 0; i < rounds; i++)
		root_one(i);
}
static void run_two()
{
	for (int i = 0; i < rounds; i++)
		root_two(i / 2);
}
static void run_three()
{
	for (int i = 0; i < 4; i++)
		root_three(i);
}
static void run_four()
{
	for (int i = 0; i < 4; i++)
		root_four(i);
}

static void on_signal(int)
{
	static int round;

	root_signal(round++);
}

static void start(ucontext_t *context, char *stack, void (*run)())
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = STACK;
	context->uc_link = &main_context;
	makecontext(context, run, 0);
}

static NOINLINE void swap_contexts()
{
	static char stacks[2][STACK];

	start(&first, stacks[0], run_one);
	start(&second, stacks[1], run_two);
	swapcontext(&main_context, &first);
	for (int i = 0; i < rounds; i++) { /* the same stack for one that ends and another */
		start(&first, stacks[0], i & 1 ? run_three : run_four);
		swapcontext(&main_context, &first);
	}
}

static NOINLINE void leave_by_jump(int i)
{
	if (!setjmp(back))
		root_jumping(i);
}

static NOINLINE void leave_by_throw(int i)
{
	try {
		root_throwing(i);
	} catch (int) {
	}
}

int main(int argc, char **argv)
{
	size_t size = (size_t)64 << 20;
	static char alternate[STACK];
	stack_t other = {};

	rounds = argc > 1 ? atoi(argv[1]) : 100;
	page = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	madvise(page, size, MADV_NOHUGEPAGE);
	pages_end = page + size;
	other.ss_sp = alternate;
	other.ss_size = sizeof(alternate);
	sigaltstack(&other, NULL);
	struct sigaction action = {};
	action.sa_handler = on_signal;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < rounds; i++) {
		root_plain(i);
		leave_by_jump(i);
		root_plain(i / 2);
		leave_by_throw(i);
		raise(SIGUSR1);
	}
	swap_contexts();
	printf("done\n");
	return 0;
}
