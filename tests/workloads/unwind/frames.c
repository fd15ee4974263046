/*
 * Kinds of frames that compilers make rarely: realigned (DRAP), variable size, shrink-wrapped, many
 * saved registers.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile long sink;
static jmp_buf away;

NOINLINE static long leaf(long n)
{
	sink += n;
	return sink;
}

/*
 * Stack arguments and a realigned frame: the argument pointer is saved in the frame, and the CFA is
 * a dereference.
 */
NOINLINE static long realigned(long a, long b, long c, long d, long e, long f, long g, long h)
{
	volatile char big[256] __attribute__((aligned(64)));
	char *variable = alloca((size_t)(a & 63) + 16);

	memset(variable, (int)b, (size_t)(a & 63) + 16);
	big[leaf(c) & 255] = (char)d;
	return leaf(e + f + g + h) + big[0] + variable[1];
}

NOINLINE static long variadic(int n, ...)
{
	volatile char big[64] __attribute__((aligned(32)));
	va_list args;
	long sum = 0;

	va_start(args, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(args, long);
	va_end(args);
	big[0] = (char)sum;
	return leaf(sum) + big[0];
}

/* The cheap path saves no registers; the other path saves all and has several epilogues. */
NOINLINE static long wrapped(long n, long *values)
{
	long a, b, c, d;

	if (n <= 0)
		return n;
	a = leaf(n);
	b = leaf(a + n);
	if (b & 1)
		return leaf(a - b);
	c = leaf(b + a);
	d = leaf(c);
	for (long i = 0; i < n; i++)
		values[i & 3] += leaf(a + b + c + d + i);
	return wrapped(n - 1, values) + a + b + c + d;
}

NOINLINE static void jump(long n)
{
	if (!n)
		longjmp(away, 1);
	jump(n - 1);
	leaf(n);
}

NOINLINE __attribute__((force_align_arg_pointer)) static long from_outside(long n)
{
	return leaf(n) + 1;
}

int main(void)
{
	long values[4] = {0};

	realigned(1, 2, 3, 4, 5, 6, 7, 8);
	variadic(5, 1L, 2L, 3L, 4L, 5L);
	wrapped(4, values);
	wrapped(0, values);
	if (!setjmp(away))
		jump(5);
	from_outside(3);
	return sink == 0;
}
