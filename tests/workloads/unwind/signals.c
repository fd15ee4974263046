/*
 * Signal frames: on the same stack, on an alternate stack, nested, left by siglongjmp, and in a
 * leaf function.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static sigjmp_buf away;
static volatile int count;

NOINLINE static int deeper(int n)
{
	volatile int local = n;

	count++;
	return n ? deeper(n - 1) + local : local;
}

static void plain(int sig)
{
	count += deeper(3) + sig;
}

static void nesting(int sig)
{
	count += sig;
	raise(SIGUSR1);
	deeper(2);
}

static void leaving(int sig)
{
	deeper(1);
	siglongjmp(away, sig);
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	if (sigaction(sig, &action, NULL))
		exit(1);
}

/* A fault in the middle of a leaf: the handler leaves it by siglongjmp. */
NOINLINE static int faulting_leaf(volatile int *p)
{
	return *p + 1;
}

int main(void)
{
	static char alternate[65536] __attribute__((aligned(16)));
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};

	if (sigaltstack(&stack, NULL))
		return 1;
	handle(SIGUSR1, plain, 0);
	handle(SIGUSR2, nesting, SA_NODEFER);
	handle(SIGHUP, plain, SA_ONSTACK);
	handle(SIGSEGV, leaving, SA_ONSTACK);
	raise(SIGUSR1);
	raise(SIGUSR2);
	raise(SIGHUP);
	if (!sigsetjmp(away, 1))
		faulting_leaf((volatile int *)(long)count - count);
	deeper(2);
	return count > 10 ? 0 : 1;
}
