/*
 * Faults pages on stacks that are swapped, left by longjmp and by exceptions, in the ways of
 *ways.hpp.
 *
 *	swapped ROUNDS
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

#include "ways.hpp"

static jmp_buf back;
static ucontext_t main_context, first, second;

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
	static char alternate[STACK];
	stack_t other = {};

	rounds = argc > 1 ? atoi(argv[1]) : 100;
	if (!map_pages((size_t)64 << 20))
		return 1;
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
