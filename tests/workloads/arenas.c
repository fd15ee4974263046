/*
 * A server of four threads whose arenas exist before recording starts: arenas SECONDS. Each thread
 * allocates 400 KB a second that it never frees, and prints RssAnon in kB when it ends. A heap of 8
 * MB is touched before the first line of output.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	THREADS = 4,
	TICKS = 100, /* ticks a second */
	BLOCK = 1000,
	A_TICK = 4,
	HEAP = 8 << 20,
};

static int seconds;

__attribute__((noinline)) static void remember(void)
{
	char *block = malloc(BLOCK);

	memset(block, 1, BLOCK);
	__asm__ volatile("" ::"r"(block) : "memory");
}

static void *serve(void *unused)
{
	for (int tick = 0; tick < seconds * TICKS; tick++) {
		for (int i = 0; i < A_TICK; i++)
			remember();
		usleep(1000000 / TICKS);
	}
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];

	seconds = count > 1 ? atoi(arguments[1]) : 1;
	for (int i = 0; i < HEAP / BLOCK; i++)
		remember();
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, serve, NULL))
			return 1;
	}
	usleep(500000);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
