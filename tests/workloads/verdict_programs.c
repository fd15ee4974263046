/*
 * Programs whose memory takes a known course, for mtreport --verdict: verdict_programs MODE
 * SECONDS. MODE is one of those below, or "all", which runs each in its own process, all at the
 * same time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	TICKS = 400,
	PIECES = 1024,
	PIECE = 64 << 10,
};

struct run {
	char *pieces[PIECES]; /* a ring: the oldest piece is unmapped first */
	size_t from, to;
	double seconds;
	struct timespec began;
};

static void wait_tick(const struct run *run, int tick)
{
	double at = (double)run->began.tv_sec + (double)run->began.tv_nsec / 1e9 +
		    run->seconds * (tick + 1) / TICKS;
	struct timespec until = {(time_t)at, (long)((at - (double)(time_t)at) * 1e9)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

__attribute__((noinline)) static void reserve(struct run *run)
{
	char *piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (piece == MAP_FAILED || run->to - run->from == PIECES)
		exit(1);
	memset(piece, 1, PIECE);
	run->pieces[run->to++ % PIECES] = piece;
}

static void give_back(struct run *run)
{
	munmap(run->pieces[run->from++ % PIECES], PIECE);
}

/* Grows for a quarter of the time, then replaces its oldest pieces. */
static void plateau(struct run *run, int tick)
{
	reserve(run);
	if (tick >= TICKS / 4)
		give_back(run);
}

static void leak(struct run *run, int tick)
{
	(void)tick;
	reserve(run);
}

/* Grows and frees everything, eight times. */
static void sawtooth(struct run *run, int tick)
{
	reserve(run);
	while (tick % (TICKS / 8) == TICKS / 8 - 1 && run->from < run->to)
		give_back(run);
}

static void one_off(struct run *run, int tick)
{
	for (int i = 0; !tick && i < 64; i++)
		reserve(run);
}

/* Fills a cache: misses become ever rarer. */
static void cache(struct run *run, int tick)
{
	double full = 200 * (1 - exp(-5.0 * (tick + 1) / TICKS));

	while ((double)run->to < full)
		reserve(run);
}

/* Grows a heap, then frees all of it except the top and returns it as malloc_trim() does. */
static void arena(struct run *run, int tick)
{
	static char *heap;
	char *piece;

	if (!heap)
		heap = sbrk(0);
	if (tick < TICKS / 4) {
		piece = sbrk(PIECE);
		memset(piece, 1, PIECE);
		run->to++;
	} else if (tick == TICKS / 4) {
		heap += -(size_t)heap % 4096;
		madvise(heap, run->to * PIECE - PIECE, MADV_DONTNEED);
	}
}

static const struct mode {
	const char *name;
	void (*tick)(struct run *run, int tick);
} modes[] = {
	{"plateau", plateau}, {"leak", leak},	{"sawtooth", sawtooth},
	{"one-off", one_off}, {"cache", cache}, {"arena", arena},
};

enum {
	MODES = sizeof(modes) / sizeof(*modes),
};

static int run_mode(const struct mode *mode, double seconds)
{
	static struct run run;

	prctl(PR_SET_NAME, mode->name);
	run.seconds = seconds;
	clock_gettime(CLOCK_MONOTONIC, &run.began);
	for (int tick = 0; tick < TICKS; tick++) {
		mode->tick(&run, tick);
		wait_tick(&run, tick);
	}
	return 0;
}

static int run_all(double seconds)
{
	int status, failed = 0;

	for (size_t i = 0; i < MODES; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (!child)
			_exit(run_mode(&modes[i], seconds));
	}
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}

int main(int argc, char **argv)
{
	double seconds = argc == 3 ? atof(argv[2]) : 0;

	if (seconds > 0 && !strcmp(argv[1], "all"))
		return run_all(seconds);
	for (size_t i = 0; seconds > 0 && i < MODES; i++) {
		if (!strcmp(argv[1], modes[i].name))
			return run_mode(&modes[i], seconds);
	}
	fprintf(stderr, "verdict_programs plateau|leak|sawtooth|one-off|cache|arena|all SECONDS\n");
	return 2;
}
