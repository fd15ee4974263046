/*
 * Functions with known arguments, for tests of probes: work(i, "step") runs COUNT times and returns
 * 3 * i; countdown() calls itself. The static probe demo:step has a semaphore and fires only while
 * the probe is enabled. The program prints how often it fired.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef WITH_SDT
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
__extension__ unsigned short demo_step_semaphore __attribute__((section(".probes")));
#else
static volatile unsigned short demo_step_semaphore;
#define DTRACE_PROBE2(provider, name, a, b) ((void)(a), (void)(b))
#endif

static volatile long sink;

__attribute__((noinline)) static long countdown(long n)
{
	return n > 0 ? countdown(n - 1) + n : 1;
}

__attribute__((noinline)) static long work(long n, const char *name)
{
	sink += name[0];
	sink += countdown(3);
	return n * 3;
}

__attribute__((noinline)) static long outer(long n)
{
	return work(n, "step") + 1;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000, listened = 0;

	for (long i = 0; i < count; i++) {
		sink += outer(i);
		if (demo_step_semaphore) {
			listened++;
			DTRACE_PROBE2(demo, step, i, (short)-i);
		}
		if (argc > 2)
			usleep((useconds_t)atol(argv[2]));
	}
	printf("listened %ld\n", listened);
	return 0;
}
