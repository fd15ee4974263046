/*
 * Faults pages on stacks whose outer half changes unseen, for the joiner: root_one and root_two
 * stand at the same place in turn and call the same deep() there, or the same shallow(), and no
 *page is faulted above. The leaf tells which of them it was.
 *
 *	changing MODE ROUNDS [ONE TWO [RUN [below | varying]]]
 *
 * MODE says how a root is left: return, jump, throw or context (setcontext); or still: it is
 *root_one always. ONE and TWO are how many in a hundred of each one's calls are deep, and RUN is
 *how often the same one is called on average before the other. With `below` all is called from a
 *large frame, so that no small dump reaches the root; with `varying` from a depth that is another
 *each time.
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

#include "ways.hpp"

static jmp_buf back;
static ucontext_t here;
static const char *mode;
static int deep_one = 50, deep_two = 50, run = 2;

/* Out of the leaf, or back to where it was called. */
static NOINLINE void leave()
{
	if (!strcmp(mode, "jump"))
		longjmp(back, 1);
	if (!strcmp(mode, "throw"))
		throw 1;
	if (!strcmp(mode, "context"))
		setcontext(&here);
}

LEAF(one, leave)
LEAF(two, leave)

static NOINLINE int deep(int (*leaf)(int), int round)
{
	ON_LARGE_FRAME(leaf(round));
}

static NOINLINE int shallow(int (*leaf)(int), int round)
{
	return leaf(round) + 1;
}

static NOINLINE int root_one(int round, bool large)
{
	return (large ? deep(leaf_one, round) : shallow(leaf_one, round)) + 1;
}

static NOINLINE int root_two(int round, bool large)
{
	return (large ? deep(leaf_two, round) : shallow(leaf_two, round)) + 2;
}

/* The same numbers everywhere. */
static unsigned int below(unsigned int bound)
{
	static unsigned long long state = 12345;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(state >> 33) % bound;
}

static bool two; /* the one to call */

static NOINLINE void call_next(int round)
{
	if (strcmp(mode, "still") && below((unsigned int)run) == 0)
		two = !two;
	if (two)
		root_two(round, below(100) < (unsigned int)deep_two);
	else
		root_one(round, below(100) < (unsigned int)deep_one);
}

static bool varying;

static NOINLINE int call_from(unsigned int depth, int round)
{
	if (depth)
		return call_from(depth - 1, round) + 1;
	call_next(round);
	return 1;
}

static NOINLINE void call_somewhere(int round)
{
	call_from(varying ? below(64) : 0, round);
}

static NOINLINE void go_back(int rounds)
{
	static int round;

	getcontext(&here);
	round++;
	if (round <= rounds)
		call_somewhere(round);
	if (round <= rounds)
		setcontext(&here);
}

static NOINLINE void leave_and_return(int rounds)
{
	static int round;

	for (round = 0; round < rounds; round++) {
		try {
			if (!setjmp(back))
				call_somewhere(round);
		} catch (int) {
		}
	}
}

static NOINLINE int go(int rounds)
{
	strcmp(mode, "context") ? leave_and_return(rounds) : go_back(rounds);
	return 0;
}

static NOINLINE int below_large_frame(int rounds)
{
	ON_LARGE_FRAME(go(rounds));
}

int main(int argc, char **argv)
{
	if (argc < 3 || !map_pages((size_t)256 << 20))
		return 1;
	mode = argv[1];
	deep_one = argc > 4 ? atoi(argv[3]) : deep_one;
	deep_two = argc > 4 ? atoi(argv[4]) : deep_two;
	run = argc > 5 ? atoi(argv[5]) : run;
	varying = argc > 6 && !strcmp(argv[6], "varying");
	argc > 6 && !varying ? below_large_frame(atoi(argv[2])) : go(atoi(argv[2]));
	printf("done\n");
	return 0;
}
