/*
 * Programs whose memory is easily judged wrong, for the recordings in tests/golden/scenes, by the
 * first argument: traps TRAP [SECONDS].
 *
 * lru: a bounded cache, and a store that only grows; the two copy data by the same helper.
 *
 * advise: fills a mapping and returns the memory by MADV_DONTNEED, over and over.
 *
 * prefork: two workers; the second one leaks.
 *
 * ended: a child grows, holds its memory for a moment and ends; the parent stays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* Keeps a call from becoming a jump, so that each function has its frame. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

enum {
	TICK_MS = 20,
	BLOCK = 20000,
	CACHED = 200,
	ARENA = 16 << 20,
	PIECE = 256 << 10,
};

struct list {
	struct list *next;
};

static struct list *opened;
static void *cached[CACHED], *arena;
static int ticks;

static NOINLINE void *copy_buffer(size_t size)
{
	struct list *copy = malloc(size);

	if (!copy)
		exit(1);
	memset(copy, 1, size);
	KEEP_FRAME();
	return copy;
}

static NOINLINE void cache_put(int number)
{
	free(cached[number % CACHED]);
	cached[number % CACHED] = copy_buffer(BLOCK);
	KEEP_FRAME();
}

static NOINLINE void open_session(void)
{
	struct list *session = copy_buffer(BLOCK / 4);

	session->next = opened;
	opened = session;
	KEEP_FRAME();
}

static NOINLINE void lru(int number)
{
	cache_put(number);
	open_session();
	KEEP_FRAME();
}

static NOINLINE void fill_arena(int number)
{
	size_t at = (size_t)number * PIECE % ARENA;

	if (!arena)
		arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	if (arena == MAP_FAILED || (!at && madvise(arena, ARENA, MADV_DONTNEED)))
		exit(1);
	memset((char *)arena + at, 1, PIECE);
	KEEP_FRAME();
}

static NOINLINE void serve(int number)
{
	free(copy_buffer(BLOCK));
	if (getenv("LEAKS"))
		open_session();
	(void)number;
	KEEP_FRAME();
}

static void run(void (*step)(int number), int count)
{
	for (int number = 0; number < count; number++) {
		step(number);
		nanosleep(&(struct timespec){.tv_nsec = TICK_MS * 1000000}, NULL);
	}
}

static void prefork(int number)
{
	(void)number;
	for (int worker = 0; worker < 2; worker++) {
		if (worker)
			setenv("LEAKS", "1", 1);
		if (!fork()) {
			run(serve, ticks);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static NOINLINE void load_all(void)
{
	for (int i = 0; i < 1000; i++)
		open_session();
	sleep(2);
	KEEP_FRAME();
}

static void ended(int number)
{
	(void)number;
	if (!fork()) {
		load_all();
		_exit(0);
	}
	wait(NULL);
	run(serve, ticks);
}

static const struct trap {
	const char *name;
	void (*step)(int number);
	int once; /* number of steps; 0: one a tick */
} traps[] = {
	{"lru", lru, 0},
	{"advise", fill_arena, 0},
	{"prefork", prefork, 1},
	{"ended", ended, 1},
};

int main(int argc, char **argv)
{
	ticks = (int)((argc > 2 ? atof(argv[2]) : 15) * 1000 / TICK_MS);
	for (size_t i = 0; argc > 1 && i < sizeof(traps) / sizeof(traps[0]); i++) {
		if (strcmp(argv[1], traps[i].name) != 0)
			continue;
		run(traps[i].step, traps[i].once ? traps[i].once : ticks);
		return 0;
	}
	fprintf(stderr, "traps TRAP [SECONDS]\n");
	return 2;
}
