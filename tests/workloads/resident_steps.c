/*
 * Gains and loses resident pages in every way that a program can cause by itself. Prints the
 * kernel's figure after each step: "STEP time kilobytes", with the time of CLOCK_MONOTONIC and the
 * kilobytes of Rss in smaps_rollup.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum {
	PAGE = 4096,
	MIB = 1 << 20,
};

static char lines[64][64];
static int count;
static char buffer[8192];
static char *path;

static long resident_kilobytes(void)
{
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t size = read(fd, buffer, sizeof(buffer) - 1);
	const char *rss;

	close(fd);
	buffer[size > 0 ? size : 0] = '\0';
	rss = strstr(buffer, "\nRss:");
	return rss ? atol(rss + 5) : -1;
}

/* Reads Rss at a moment; the kernel may reclaim pages of files at any other moment. */
static void step(const char *name)
{
	long before = resident_kilobytes(), after;
	struct timespec now;

	for (int i = 0; i < 100; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		after = resident_kilobytes();
		if (after == before)
			break;
		before = after;
	}
	snprintf(lines[count++], sizeof(*lines), "%s %lld %ld\n", name,
		 (long long)now.tv_sec * 1000000000 + now.tv_nsec, before);
}

static char *map(size_t size, int flags)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
			0);

	if (at == MAP_FAILED)
		exit(3);
	return at;
}

__attribute__((noinline)) static void touch(char *at, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)at)[i * PAGE] = 1;
}

__attribute__((noinline)) static void touch_kept(char *at, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)at)[i * PAGE] = 1;
}

static int look(const char *at, size_t pages)
{
	int sum = 0;

	for (size_t i = 0; i < pages; i++)
		sum += ((const volatile char *)at)[i * PAGE];
	return sum;
}

static void *touch_in_thread(void *at)
{
	touch(at, 500);
	return NULL;
}

static void anonymous(void)
{
	char *at = map(200 * PAGE, 0), *other;

	touch(at, 100);
	step("touched");
	look(at + 100 * PAGE, 50);
	step("zero-pages");
	touch(at + 100 * PAGE, 50);
	step("zero-pages-written");
	madvise(at, 40 * PAGE, MADV_DONTNEED);
	step("dontneed");
	touch(at, 20);
	step("touched-again");
	other = map(200 * PAGE, 0);
	at = mremap(at, 200 * PAGE, 200 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other);
	step("moved");
	mmap(at, 10 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	step("mapped-over");
	munmap(at, 200 * PAGE);
	step("unmapped");
	touch_kept(map(64 * PAGE, 0), 33);
	step("kept");
}

static void without_faults(void)
{
	char *at = map(50 * PAGE, MAP_POPULATE), *more = map(30 * PAGE, 0);
	struct iovec in, out;

	step("populated");
	madvise(more, 10 * PAGE, MADV_POPULATE_WRITE);
	step("populated-by-madvise");
	in = (struct iovec){more + 10 * PAGE, 3 * PAGE};
	out = (struct iovec){at, 3 * PAGE};
	if (process_vm_writev(getpid(), &out, 1, &in, 1, 0) < 0)
		exit(4);
	step("pinned");
	munmap(at, 50 * PAGE);
	munmap(more, 30 * PAGE);
	step("populated-unmapped");
}

static void heap(void)
{
	char *at = sbrk(100 * PAGE);

	touch(at + PAGE, 90);
	step("heap");
	sbrk(-60 * PAGE);
	step("heap-shrunk");
}

static void files(void)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *shared, *private;

	if (ftruncate(fd, 300 * PAGE))
		exit(5);
	for (int i = 0; i < 300; i++) {
		if (write(fd, buffer, PAGE) != PAGE)
			exit(5);
	}
	shared = mmap(NULL, 300 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	private = mmap(NULL, 300 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	look(private, 200);
	step("file-read");
	touch(private, 20);
	step("file-copied");
	touch(shared, 100);
	step("file-shared");
	if (ftruncate(fd, 50 * PAGE))
		exit(5);
	step("file-truncated");
	munmap(private, 300 * PAGE);
	munmap(shared, 300 * PAGE);
	close(fd);
	step("file-unmapped");
	shared = mmap(NULL, 100 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	touch(shared, 60);
	step("shm");
	madvise(shared, 30 * PAGE, MADV_REMOVE);
	step("shm-removed");
}

static void huge(void)
{
	char *at = map(8 * MIB, 0),
	     *aligned = (char *)(((uintptr_t)at + 2 * MIB) & ~(2 * MIB - 1ul));

	madvise(aligned, 4 * MIB, MADV_HUGEPAGE);
	touch(aligned, 1);
	step("huge");
	touch(aligned + 2 * MIB, 1);
	step("huge-second");
	/* khugepaged would fill the holes below at any moment; its work is not recorded here */
	madvise(aligned, 4 * MIB, MADV_NOHUGEPAGE);
	madvise(aligned + MIB, 10 * PAGE, MADV_DONTNEED);
	step("huge-part-dontneed");
	munmap(aligned + 2 * MIB + 7 * PAGE, 20 * PAGE);
	step("huge-part-unmapped");
	touch(aligned + 4 * MIB, 40);
	madvise(aligned + 4 * MIB, 2 * MIB, MADV_COLLAPSE);
	step("collapsed");
	munmap(at, 8 * MIB);
	step("huge-unmapped");
}

static void processes(void)
{
	char *at = map(50 * PAGE, 0);
	int status;
	pid_t child;

	touch(at, 50);
	step("before-fork");
	child = fork();
	if (!child) {
		count = 0;
		touch(at, 25);
		munmap(at + 30 * PAGE, 5 * PAGE);
		/* The first step() touches memory after it has read Rss. */
		step("child");
		count = 0;
		step("child");
		if (write(1, lines[0], strlen(lines[0])) < 0)
			_exit(6);
		_exit(0);
	}
	waitpid(child, &status, 0);
	touch(at, 50);
	step("after-fork");
}

static void threads(void)
{
	char *at = map(2000 * PAGE, 0);
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, touch_in_thread, at + i * 500 * PAGE);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	step("threads");
}

int main(int argc, char **argv)
{
	path = argc > 1 ? argv[1] : "resident_steps.tmp";
	if (argc > 2)
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	memset(lines, 1, sizeof(lines));
	step("start");
	count = 0;
	step("start");
	anonymous();
	without_faults();
	heap();
	files();
	huge();
	processes();
	threads();
	for (int i = 0; i < count; i++)
		printf("%s", lines[i]);
	return 0;
}
