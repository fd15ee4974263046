/*
 * Grows in three steps and shrinks in two, for a test of --at. Prints a line for each step: its
 * name, a moment in ns of the monotonic clock at which the step is over and the next one has not
 * begun, and the bytes that the program then has reserved.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

static void say(const char *step, size_t bytes)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s %" PRIu64 " %zu\n", step,
	       (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, bytes);
}

__attribute__((noinline)) static char *reserve(size_t bytes)
{
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

int main(void)
{
	char *first, *second, *third;
	static char line[4096];

	setvbuf(stdout, line, _IOFBF, sizeof(line)); /* stdio reserves no memory then */
	say("started", 0);
	first = reserve(8 * MIB);
	say("first", 8 * MIB);
	second = reserve(32 * MIB);
	say("second", 40 * MIB);
	third = reserve(24 * MIB);
	say("peak", 64 * MIB);
	munmap(second + 8 * MIB, 16 * MIB);
	say("holed", 48 * MIB);
	munmap(third, 24 * MIB);
	munmap(second, 8 * MIB);
	say("given-back", 16 * MIB);
	return first ? 0 : 1;
}
