/*
 * threads N [CHURN]: N threads that sleep. With CHURN, threads are also started all the time that
 * touch new memory and end.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void *idle(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static void *brief(void *unused)
{
	volatile char *bytes =
		mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	for (int i = 0; i < 65536; i += 4096)
		bytes[i] = 1;
	munmap((void *)bytes, 65536);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	for (int i = 0; i < count; i++) {
		if (pthread_create(&thread, &attr, idle, NULL))
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (argc > 2) {
		if (!pthread_create(&thread, &attr, brief, NULL))
			pthread_join(thread, NULL);
	}
	pause();
	return 0;
}
