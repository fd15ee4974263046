/*
 * Servers whose memory grows, or does not grow, in known ways. servers SECONDS RATE FIRST COUNT
 * runs each kind with the seeds FIRST to FIRST + COUNT - 1, each in its own process, all at the
 * same time. A seed determines sizes, lifetimes and phases. RATE is allocations a second of most
 * kinds. Kinds named leak_ leak; the others do not.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define FOREVER INFINITY

enum {
	TICKS = 1500,
	SLOTS = 8192, /* entries of a cache */
};

struct block {
	struct block *next;
};

/* Determined by the seed: the state of the generator, and two numbers from 0 to 1. */
static unsigned short drawn[3];
static double a, b;

static double chance(void)
{
	return erand48(drawn);
}

/* A number from low to high, determined by the seed. */
static double between(double share, double low, double high)
{
	return low + share * (high - low);
}

/* ---- Kinds: the time runs from 0 to 1; a lifetime is a share of it ---- */

static double exponential(double mean)
{
	return -mean * log(1 - chance());
}

static double steady(double t)
{
	(void)t;
	return 1;
}

static double brisk(double t)
{
	(void)t;
	return 4;
}

static double rare(double t)
{
	(void)t;
	return between(b, 0.04, 0.1);
}

static double rising(double t)
{
	return 2 * t;
}

static double falling(double t)
{
	return 1.5 - t;
}

static double first(double t)
{
	return t < between(a, 0.02, 0.08) ? 6 : 0;
}

static double first_third(double t)
{
	return t < between(a, 0.1, 0.4) ? 2 : 0;
}

static double in_bursts(double t)
{
	return fmod(t + b, between(a, 0.06, 0.13)) < 0.01 ? 8 : 0;
}

/* A backlog that grows for half a period and drains in the other half. */
static double queued(double t)
{
	double period = between(a, 0.1, 0.45), phase = fmod(t + b, period);

	return phase < period / 2 ? period / 2 : 0.001;
}

static double queued_once(double t)
{
	return t < 0.2 || t > 0.5 ? 0.001 : 0.5 + (t - 0.2) * between(a, 0.5, 1.4) - t;
}

static double to_the_end_of(double t, double length)
{
	return length - fmod(t + b, length);
}

static double of_a_request(double t)
{
	return to_the_end_of(t, between(a, 0.01, 0.1));
}

static double to_the_next_reload(double t)
{
	return to_the_end_of(t, between(a, 0.15, 0.35));
}

static double sessions(double t)
{
	(void)t;
	return exponential(between(a, 0.03, 0.25));
}

static double equal_sessions(double t)
{
	(void)t;
	return between(a, 0.05, 0.45);
}

/* Most lifetimes are short; a few are as long as the limit. */
static double heavy_tailed(double t)
{
	double life = 0.004 / (1 - chance()), limit = between(a, 0.2, 0.4);

	(void)t;
	return life < limit ? life : limit;
}

static double forever(double t)
{
	(void)t;
	return FOREVER;
}

static double one_in(double part, double other)
{
	return chance() < part ? FOREVER : other;
}

static double of_a_hundred(double t)
{
	(void)t;
	return one_in(0.01, 0.002 + 0.01 * chance());
}

static double half(double t)
{
	(void)t;
	return one_in(between(a, 0.2, 0.8), exponential(0.05));
}

static double later(double t)
{
	return t < between(a, 0.2, 0.5) ? 0.002 : FOREVER;
}

static double alongside_sessions(double t)
{
	(void)t;
	return one_in(0.1, equal_sessions(t));
}

/* ---- Caches ---- */

static struct block *cache[SLOTS];
static unsigned long stored[SLOTS], stores;

static size_t capacity(double blocks)
{
	double slots = blocks * between(a, 0.05, 0.5);

	return slots < 2 ? 2 : slots > SLOTS ? SLOTS : (size_t)slots;
}

static size_t oldest_slot(size_t slots)
{
	return stores % slots;
}

static size_t any_slot(size_t slots)
{
	return stores < slots ? stores : (size_t)(chance() * (double)slots);
}

/* The least recently used of five samples, as in redis. */
static size_t old_slot(size_t slots)
{
	size_t found = any_slot(slots);

	for (int i = 0; i < 4 && stores >= slots; i++) {
		size_t other = any_slot(slots);

		found = stored[other] < stored[found] ? other : found;
	}
	return found;
}

/* A third of the keys is hot and is never evicted. */
static size_t cold_slot(size_t slots)
{
	return stores < slots ? stores
			      : slots / 3 + (size_t)(chance() * (double)(slots - slots / 3));
}

/* ---- One process ---- */

static struct block *wheel[TICKS + 1];
static double seconds, blocks;

static void keep(struct block *block, int tick, double life)
{
	double at = tick + life * TICKS + 1;

	if (at > TICKS)
		return;
	block->next = wheel[(int)at];
	wheel[(int)at] = block;
}

static void store(struct block *block, size_t slot)
{
	free(cache[slot]);
	cache[slot] = block;
	stored[slot] = stores++;
}

static size_t size_of(void)
{
	double scale = between(b, 16, 4000);

	return (size_t)(scale + chance() * scale * 3);
}

#define KIND(name, rate, life, slot)                                            \
	static NOINLINE void name(int tick, int count)                          \
	{                                                                       \
		double (*lives)(double) = life;                                 \
		size_t (*slot_of)(size_t) = slot;                               \
		while (count--) {                                               \
			struct block *block = malloc(size_of());                \
			if (slot_of)                                            \
				store(block, slot_of(capacity(blocks)));        \
			else                                                    \
				keep(block, tick, lives((double)tick / TICKS)); \
		}                                                               \
	}
#define KINDS(kind)                                                                              \
	kind(fifo_cache, steady, NULL, oldest_slot) kind(                                        \
		random_cache, steady, NULL, any_slot) kind(lru_cache, steady, NULL, old_slot)    \
		kind(hot_cache, steady, NULL, cold_slot) kind(queue, steady, queued, NULL) kind( \
			queue_once, steady, queued_once,                                         \
			NULL) kind(arena, steady, of_a_request,                                  \
				   NULL) kind(reload, steady, to_the_next_reload,                \
					      NULL) kind(session, steady, sessions, NULL)        \
			kind(equal_session, steady, equal_sessions,                              \
			     NULL) kind(heavy_tail, steady, heavy_tailed,                        \
					NULL) kind(cold_session, rare, sessions,                 \
						   NULL) kind(busier, rising, sessions, NULL)    \
				kind(start_only, first, forever,                                 \
				     NULL) kind(warm_up, first_third, forever,                   \
						NULL) kind(leak_slow, brisk, of_a_hundred, NULL) \
					kind(leak_cold, rare, forever,                           \
					     NULL) kind(leak_bursts, in_bursts, forever, NULL)   \
						kind(leak_half, steady, half, NULL)              \
							kind(leak_falling, falling, half, NULL)  \
								kind(leak_sessions, steady,      \
								     alongside_sessions, NULL)   \
									kind(leak_later, steady, \
									     later, NULL)

KINDS(KIND)

static const struct kind {
	const char *name;
	double (*rate)(double t);
	void (*allocate)(int tick, int count);
} kinds[] = {
#define ROW(name, rate, life, slot) {#name, rate, name},
	KINDS(ROW)};

static void expire(int tick)
{
	while (wheel[tick]) {
		struct block *block = wheel[tick];

		wheel[tick] = block->next;
		free(block);
	}
}

static void sleep_to(const struct timespec *began, double at)
{
	double end = (double)began->tv_nsec / 1e9 + at;
	struct timespec until = {began->tv_sec + (time_t)end, (long)((end - floor(end)) * 1e9)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void run(const struct kind *kind, unsigned seed, double rate)
{
	struct timespec began;
	char name[16];
	double due = 0;

	drawn[0] = (unsigned short)(seed * 7919);
	drawn[1] = (unsigned short)(kind - kinds);
	for (int i = 0; i < 10; i++)
		chance();
	a = chance();
	b = chance();
	blocks = seconds * rate;
	snprintf(name, sizeof(name), "%s", kind->name);
	prctl(PR_SET_NAME, name);
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (int tick = 0; tick < TICKS; tick++) {
		int count = (int)(due += kind->rate((double)tick / TICKS) * blocks / TICKS);

		due -= count;
		expire(tick);
		kind->allocate(tick, count);
		sleep_to(&began, seconds * (tick + 1) / TICKS);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned from = argc == 5 ? (unsigned)atoi(argv[3]) : 0,
		 count = argc == 5 ? (unsigned)atoi(argv[4]) : 0;
	int status, failed = 0;

	if (!count) {
		fprintf(stderr, "servers SECONDS RATE FIRST COUNT\n");
		return 2;
	}
	seconds = atof(argv[1]);
	for (size_t i = 0; i < count * sizeof(kinds) / sizeof(*kinds); i++) {
		pid_t child = fork();

		if (!child)
			run(&kinds[i / count], from + (unsigned)(i % count), atof(argv[2]));
		failed |= child < 0;
	}
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}
