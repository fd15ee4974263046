/*
 * Uses memory in known ways and prints the regions used on standard output, for tests of the
 * recorder:
 *
 *	steps faults PAGES        touches that many fresh pages
 *	steps late PAGES          the same a second later
 *	steps moved PAGES         the same on another CPU than it started on; exits with 3 if
 *	                          there is none
 *	steps brk CALLS BYTES     grows the heap
 *	steps calls               mmap, mremap and munmap, each with arguments easy to recognize
 *	steps threads N PAGES     N threads, named worker0 ..., touch that many each
 *	steps fork PAGES          a child named "forked" touches them, then executes
 *	                          `steps faults PAGES`
 *	steps drip                a page each millisecond, for ever
 *	steps serve               two threads and the words "touch N", "workers N",
 *	                          "thread N" (a new one) and "quit" on standard input
 *
 * A touched region is printed as "region TID START END"; START and END are in hex.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul

static int thread_id(void)
{
	return (int)syscall(SYS_gettid);
}

/* Takes one fault a page: the memory has no huge pages, and no fault maps neighbouring pages. */
__attribute__((noinline)) static void touch(size_t pages)
{
	char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(memory + i * PAGE) = 1;
	printf("region %d %lx %lx\n", thread_id(), (unsigned long)memory,
	       (unsigned long)memory + pages * PAGE);
	fflush(stdout);
}

static long faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void do_faults(size_t pages)
{
	long before = faults_so_far();

	touch(pages);
	printf("faults %ld\n", faults_so_far() - before);
}

static void do_moved(size_t pages)
{
	int began = sched_getcpu();
	cpu_set_t others;

	if (sched_getaffinity(0, sizeof(others), &others))
		exit(1);
	CPU_CLR(began, &others);
	if (!CPU_COUNT(&others))
		exit(3);
	if (sched_setaffinity(0, sizeof(others), &others))
		exit(1);
	do_faults(pages);
}

__attribute__((noreturn)) static void do_drip(void)
{
	char *memory = mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, 1 << 30, MADV_NOHUGEPAGE);
	for (size_t at = 0;; at = (at + PAGE) % (1 << 30)) {
		*(volatile char *)(memory + at) = 1;
		usleep(1000);
	}
}

static void do_brk(size_t calls, size_t bytes)
{
	for (size_t i = 0; i < calls; i++) {
		if (sbrk((intptr_t)bytes) == (void *)-1)
			exit(1);
	}
}

static void do_calls(void)
{
	char *hint = (char *)0x300000000000, *a, *b;

	a = mmap(hint, 0x123000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("mmap di:%lx si:123000 dx:3 r10:22 ax:%lx\n", (unsigned long)hint, (unsigned long)a);
	b = mremap(a, 0x123000, 0x456000, MREMAP_MAYMOVE);
	printf("mremap di:%lx si:123000 dx:456000 r10:1 ax:%lx\n", (unsigned long)a,
	       (unsigned long)b);
	munmap(b + 0x1000, 0x78000);
	printf("munmap di:%lx si:78000 ax:0\n", (unsigned long)b + 0x1000);
	munmap(b + 1, 0x79000);
	printf("munmap di:%lx si:79000 ax:ffffffffffffffea\n", (unsigned long)b + 1);
}

static void *work(void *pages)
{
	static int number;
	char name[16];

	snprintf(name, sizeof(name), "worker%d", __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
	prctl(PR_SET_NAME, name);
	touch((size_t)(uintptr_t)pages);
	return NULL;
}

static void do_threads(size_t count, size_t pages)
{
	pthread_t thread;

	for (size_t i = 0; i < count; i++) {
		if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)pages))
			exit(1);
		pthread_join(thread, NULL);
	}
}

static void do_fork(char *self, char *pages)
{
	pid_t child = fork();
	int status;

	if (!child) {
		prctl(PR_SET_NAME, "forked");
		touch(strtoul(pages, NULL, 10));
		execl(self, "steps", "faults", pages, (char *)NULL);
		_exit(127);
	}
	printf("child %d\n", child);
	waitpid(child, &status, 0);
	exit(WEXITSTATUS(status));
}

/* A thread that reads numbers from its pipe, touches that many pages for each, and answers each. */
struct server_thread {
	int words[2], answers[2];
};

static void *serve_thread(void *argument)
{
	struct server_thread *thread = argument;
	size_t pages;

	while (read(thread->words[0], &pages, sizeof(pages)) == sizeof(pages)) {
		touch(pages);
		if (write(thread->answers[1], "", 1) != 1)
			break;
	}
	return NULL;
}

static struct server_thread *start_thread(void)
{
	struct server_thread *thread = calloc(1, sizeof(*thread));
	pthread_t id;

	if (!thread || pipe(thread->words) || pipe(thread->answers) ||
	    pthread_create(&id, NULL, serve_thread, thread))
		exit(1);
	return thread;
}

static void ask(struct server_thread *thread, size_t pages)
{
	char byte;

	if (write(thread->words[1], &pages, sizeof(pages)) != sizeof(pages) ||
	    read(thread->answers[0], &byte, 1) != 1)
		exit(1);
}

static void do_serve(void)
{
	struct server_thread *workers[] = {start_thread(), start_thread()};
	char word[16];
	size_t pages;

	printf("ready %d\n", getpid());
	fflush(stdout);
	while (scanf("%15s %zu", word, &pages) == 2) {
		if (!strcmp(word, "touch"))
			touch(pages);
		else if (!strcmp(word, "thread"))
			ask(start_thread(), pages);
		else if (!strcmp(word, "workers"))
			ask(workers[0], pages), ask(workers[1], pages);
		else
			break;
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	size_t a = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	size_t b = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "late"))
		sleep(1);
	if (!strcmp(what, "faults") || !strcmp(what, "late"))
		do_faults(a);
	else if (!strcmp(what, "moved"))
		do_moved(a);
	else if (!strcmp(what, "brk"))
		do_brk(a, b);
	else if (!strcmp(what, "calls"))
		do_calls();
	else if (!strcmp(what, "threads"))
		do_threads(a, b);
	else if (!strcmp(what, "fork") && argc > 2)
		do_fork(argv[0], argv[2]);
	else if (!strcmp(what, "drip"))
		do_drip();
	else if (!strcmp(what, "serve"))
		do_serve();
	else
		return 2;
	return 0;
}
