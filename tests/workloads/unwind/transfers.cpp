/*
 * Every way that control changes hands besides calls and returns: tail calls, indirect ones, exceptions,
 * longjmp, coroutines that yield from the same line, a return used as a jump, a call that only pushes.
 */
#include <csetjmp>
#include <cstdlib>
#include <stdexcept>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline, noipa))

static volatile long sink;
static std::jmp_buf away;

NOINLINE static long leaf(long n)
{
	sink = sink + n;
	return n * 3 + 1;
}

NOINLINE static long recursive(long n)
{
	if (n <= 0)
		return leaf(n);
	return recursive(n - 1) + leaf(n);
}

NOINLINE static long tail_end(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += leaf(i);
	return sum + sink;
}

NOINLINE static long tail_middle(long n)
{
	return tail_end(n + 1);
}

NOINLINE static long tail_begin(long n)
{
	leaf(n);
	return tail_middle(n);
}

static long (*volatile chosen)(long) = tail_begin;

NOINLINE static long through_pointer(long n)
{
	return chosen(n) + 1;
}

NOINLINE static long throwing(long n)
{
	if (n == 0)
		throw std::runtime_error("thrown");
	return throwing(n - 1) + leaf(n);
}

NOINLINE static long rethrowing(long n)
{
	try {
		return throwing(n) + 1;
	} catch (const std::runtime_error &) {
		leaf(n);
		throw;
	}
}

NOINLINE static long catching(long n)
{
	try {
		return rethrowing(n) + 1;
	} catch (const std::exception &) {
		return leaf(n) + recursive(2);
	}
}

NOINLINE static void jumping(long n)
{
	if (n == 0)
		std::longjmp(away, 1);
	jumping(n - 1);
	leaf(n);
}

NOINLINE static long landing(long n)
{
	if (!setjmp(away))
		jumping(n);
	return leaf(n) + recursive(2);
}

static ucontext_t home, contexts[2];
static int running;

/* Both coroutines come and go through the same instructions here. */
NOINLINE static void yield()
{
	int from = running;

	running = !running;
	swapcontext(&contexts[from], &contexts[running]);
	leaf(running);
}

NOINLINE static void one_way(long n)
{
	for (long i = 0; i < n; i++) {
		leaf(i);
		yield();
	}
}

NOINLINE static void other_way(long n)
{
	long sum = recursive(2);

	for (long i = 0; i < n; i++) {
		yield();
		sum += leaf(i);
	}
	sink = sum;
}

static void first()
{
	one_way(6);
	leaf(1);
	setcontext(&home);
}

static void second()
{
	other_way(6);
	leaf(2);
	setcontext(&home);
}

static void enter(ucontext_t *context, char *stack, size_t size, void (*function)())
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = size;
	context->uc_link = &home;
	makecontext(context, function, 0);
}

/* The second stack lies below the first, and both below main's: see stepper.h. */
NOINLINE static void coroutines()
{
	static char stacks[2][65536] __attribute__((aligned(16)));

	enter(&contexts[0], stacks[1], sizeof(stacks[1]), first);
	enter(&contexts[1], stacks[0], sizeof(stacks[0]), second);
	running = 0;
	swapcontext(&home, &contexts[0]);
	leaf(3);
}

/* A call of the next instruction; a call whose callee jumps on by a return. */
asm(".globl odd_transfers\n"
    ".type odd_transfers, @function\n"
    "odd_transfers:\n"
    ".cfi_startproc\n"
    "	push %rbx\n"
    ".cfi_adjust_cfa_offset 8\n"
    "	call 1f\n"
    ".cfi_adjust_cfa_offset 8\n"
    "1:	pop %rbx\n"
    ".cfi_adjust_cfa_offset -8\n"
    "	lea 3f(%rip), %rax\n"
    "	call 2f\n"
    "	jmp 4f\n"
    "2:	push %rax\n"
    "	ret\n"
    "3:	nop\n"
    "	ret\n"
    "4:	pop %rbx\n"
    ".cfi_adjust_cfa_offset -8\n"
    "	ret\n"
    ".cfi_endproc\n"
    ".size odd_transfers, .-odd_transfers\n");

extern "C" void odd_transfers();

NOINLINE static long switched(long n)
{
	switch (n % 7) {
	case 0:
		return leaf(1) * 3;
	case 1:
		return leaf(2) + 5;
	case 2:
		return leaf(3) ^ 7;
	case 3:
		return leaf(4) - 9;
	case 4:
		return leaf(5) / 3;
	case 5:
		std::abort();
	default:
		return leaf(7) << 2;
	}
}

int main(int argc, char **)
{
	if (argc > 1) /* the stepper begins here */
		asm volatile("int3");
	recursive(12);
	through_pointer(4);
	catching(3);
	landing(4);
	coroutines();
	odd_transfers();
	for (long i = 0; i < 5; i++)
		switched(i);
	recursive(50);
	std::free(std::malloc(100));
	return 0;
}
