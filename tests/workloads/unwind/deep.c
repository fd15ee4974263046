/*
 * Recursion deeper than the hardware's branch records: in several ways that alternate unevenly, by
 * one function alone, and in ways that differ only at their root.
 */
#define NOINLINE __attribute__((noinline, noipa))

static volatile long sink;

NOINLINE static long leaf(long n)
{
	sink += n;
	return sink & 3;
}

NOINLINE static long plus(long n, unsigned int way);
NOINLINE static long minus(long n, unsigned int way);

/* The way determines which function calls which, and from where. */
NOINLINE static long times(long n, unsigned int way)
{
	if (!n)
		return leaf(n);
	way = way * 1103515245 + 12345;
	if (way >> 16 & 1)
		return plus(n - 1, way) + leaf(n);
	return minus(n - 1, way) - leaf(n);
}

NOINLINE static long plus(long n, unsigned int way)
{
	long sum = 0;

	for (int i = 0; i < 2 && n; i++)
		sum += i == 0 || n % 19 == 0 ? times(n - 1, way + (unsigned int)i) : leaf(i);
	return sum + leaf(n);
}

NOINLINE static long minus(long n, unsigned int way)
{
	if (n < 2)
		return leaf(n) - 1;
	if (n & 1)
		return minus(n - 1, way) + leaf(n);
	return leaf(1) + times(n - 1, way ^ 0x5a5a) * 2;
}

NOINLINE static long alone(long n)
{
	return n ? alone(n - 1) + leaf(n) : leaf(0);
}

NOINLINE static long root_one(long n)
{
	return alone(n) + 1;
}

NOINLINE static long root_two(long n)
{
	return alone(n + 3) + 2;
}

int main(void)
{
	for (unsigned int way = 1; way < 5; way++)
		leaf(times(100, way));
	for (int i = 0; i < 3; i++) {
		leaf(root_one(60));
		leaf(root_two(90));
	}
	return 0;
}
