/*
 * Faults pages on stacks whose outer half changes unseen, for the joiner: root_one and root_two
 * stand at the same place in turn and call the same deep() there, or the same shallow(), and no
 *page is faulted above. The leaf tells which of them it was.
 *
 *	changing MODE ROUNDS [ONE TWO [RUN [OPTION...]]]
 *
 * MODE says how a root is left: return, jump, throw, context (setcontext) or swap (it returns, but
 * on a stack that is made for it); or still: it is root_one always. ONE and TWO are how many in a
 * hundred of each one's calls are deep, and RUN is how often the same one is called on average
 * before the other. Options:
 *
 *	below		all is called from a large frame, so that no small dump reaches the root
 *	depths=N	the roots are called from one of so many depths, another each time
 *	between=N	frames between a root and what it calls
 *	pairs		a root is called through another function, and large where that is small:
 *only the two together are as large in both
 *	entries		of swap: the roots are the first functions of one of so many stacks as
 *depths says threads=N	so many do the same at once, each in a turn of its own
 *	seed=N		for other numbers
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <ucontext.h>
#include <vector>

#include "ways.hpp"

static thread_local jmp_buf back;
static thread_local ucontext_t here;
static const char *mode;
static int deep_one = 50, deep_two = 50, run = 2;
static unsigned int depths = 1, between, threads = 1, seed;
static bool far_below, pairs, entries;

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

static NOINLINE int call(unsigned int frames, int (*leaf)(int), int round, bool large)
{
	if (frames)
		return call(frames - 1, leaf, round, large) + 1;
	return (large ? deep(leaf, round) : shallow(leaf, round)) + 1;
}

static NOINLINE int root_one(int round, bool large)
{
	if (between)
		return call(between - 1, leaf_one, round, large) + 1;
	return (large ? deep(leaf_one, round) : shallow(leaf_one, round)) + 1;
}

static NOINLINE int root_two(int round, bool large)
{
	if (between)
		return call(between - 1, leaf_two, round, large) + 2;
	return (large ? deep(leaf_two, round) : shallow(leaf_two, round)) + 2;
}

/* As root_one and root_two, each of its own size; and what calls them, of the other's. */
static NOINLINE int root_one_small(int round, bool large)
{
	volatile char room[64];

	room[0] = 1;
	return (large ? deep(leaf_one, round) : shallow(leaf_one, round)) + room[0];
}

static NOINLINE int root_two_large(int round, bool large)
{
	volatile char room[192];

	room[0] = 1;
	return (large ? deep(leaf_two, round) : shallow(leaf_two, round)) + room[0];
}

static NOINLINE int through_large(int round, bool large)
{
	volatile char room[192];

	room[0] = 1;
	return root_one_small(round, large) + room[0];
}

static NOINLINE int through_small(int round, bool large)
{
	volatile char room[64];

	room[0] = 1;
	return root_two_large(round, large) + room[0];
}

static thread_local unsigned long long state;

/* The same numbers everywhere. */
static unsigned int below(unsigned int bound)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(state >> 33) % bound;
}

static thread_local bool two; /* the one to call */

static void choose_next()
{
	if (strcmp(mode, "still") && below((unsigned int)run) == 0)
		two = !two;
}

static bool choose_depth()
{
	return below(100) < (unsigned int)(two ? deep_two : deep_one);
}

static NOINLINE void call_through(int round)
{
	if (two)
		through_small(round, choose_depth());
	else
		through_large(round, choose_depth());
}

static NOINLINE void call_next(int round)
{
	choose_next();
	if (pairs)
		call_through(round);
	else if (two)
		root_two(round, choose_depth());
	else
		root_one(round, choose_depth());
}

static NOINLINE int call_from(unsigned int depth, int round)
{
	if (depth)
		return call_from(depth - 1, round) + 1;
	call_next(round);
	return 1;
}

static NOINLINE void call_somewhere(int round)
{
	call_from(depths > 1 ? below(depths) : 0, round);
}

static NOINLINE void go_back(int rounds)
{
	static thread_local int round;

	getcontext(&here);
	round++;
	if (round <= rounds)
		call_somewhere(round);
	if (round <= rounds)
		setcontext(&here);
}

static NOINLINE void leave_and_return(int rounds)
{
	static thread_local int round;

	for (round = 0; round < rounds; round++) {
		try {
			if (!setjmp(back))
				call_somewhere(round);
		} catch (int) {
		}
	}
}

static thread_local int swapped_round;

/* The outermost function of its stack, and said to be, as those of threads are. */
static void on_other_stack()
{
	__asm__ volatile(".cfi_undefined rip");
	call_somewhere(swapped_round);
}

static void root_one_begins()
{
	__asm__ volatile(".cfi_undefined rip");
	choose_depth() ? deep(leaf_one, swapped_round) : shallow(leaf_one, swapped_round);
}

static void root_two_begins()
{
	__asm__ volatile(".cfi_undefined rip");
	choose_depth() ? deep(leaf_two, swapped_round) : shallow(leaf_two, swapped_round);
}

static void (*first_of_stack())()
{
	if (!entries)
		return on_other_stack;
	choose_next();
	return two ? root_two_begins : root_one_begins;
}

static NOINLINE void swap_and_return(int rounds)
{
	std::vector<char> stacks(STACK * (size_t)(entries ? depths : 1));

	for (swapped_round = 0; swapped_round < rounds; swapped_round++) {
		ucontext_t other;

		getcontext(&other);
		other.uc_stack.ss_sp =
			stacks.data() + (entries ? STACK * (size_t)below(depths) : 0);
		other.uc_stack.ss_size = STACK;
		other.uc_link = &here;
		makecontext(&other, first_of_stack(), 0);
		swapcontext(&here, &other);
	}
}

static NOINLINE int go(int rounds)
{
	if (!strcmp(mode, "context"))
		go_back(rounds);
	else if (!strcmp(mode, "swap"))
		swap_and_return(rounds);
	else
		leave_and_return(rounds);
	return 0;
}

static NOINLINE int below_large_frame(int rounds)
{
	ON_LARGE_FRAME(go(rounds));
}

static NOINLINE void work(unsigned int number, int rounds)
{
	state = 12345 + ((unsigned long long)seed << 40) + ((unsigned long long)number << 50);
	far_below ? below_large_frame(rounds) : go(rounds);
}

static bool read_option(const char *word)
{
	far_below |= !strcmp(word, "below");
	pairs |= !strcmp(word, "pairs");
	entries |= !strcmp(word, "entries");
	return !strcmp(word, "below") || !strcmp(word, "pairs") || !strcmp(word, "entries") ||
	       sscanf(word, "depths=%u", &depths) == 1 ||
	       sscanf(word, "between=%u", &between) == 1 ||
	       sscanf(word, "threads=%u", &threads) == 1 || sscanf(word, "seed=%u", &seed) == 1;
}

int main(int argc, char **argv)
{
	std::vector<std::thread> others;

	if (argc < 3 || !map_pages((size_t)256 << 20))
		return 1;
	mode = argv[1];
	deep_one = argc > 4 ? atoi(argv[3]) : deep_one;
	deep_two = argc > 4 ? atoi(argv[4]) : deep_two;
	run = argc > 5 ? atoi(argv[5]) : run;
	for (int i = 6; i < argc; i++) {
		if (!read_option(argv[i]))
			return 1;
	}
	for (unsigned int i = 1; i < threads; i++)
		others.emplace_back(work, i, atoi(argv[2]));
	work(0, atoi(argv[2]));
	for (std::thread &other : others)
		other.join();
	printf("done\n");
	return 0;
}
