/*
 * A preloaded library that makes the FAIL_MALLOC-th allocation of a process or the FAIL_READ-th
 * read of a file fail. A forked process continues the counts of its parent. FAIL_COUNT names a
 * file, to which the number of allocations and of reads is written at the end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static atomic_long allocations, reads;
static long fail_allocation, fail_read;
static int begun;

__attribute__((constructor)) static void begin(void)
{
	fail_allocation = atol(getenv("FAIL_MALLOC") ? getenv("FAIL_MALLOC") : "0");
	fail_read = atol(getenv("FAIL_READ") ? getenv("FAIL_READ") : "0");
	begun = 1;
}

__attribute__((destructor)) static void end(void)
{
	FILE *to = getenv("FAIL_COUNT") ? fopen(getenv("FAIL_COUNT"), "w") : NULL;

	if (to) {
		fprintf(to, "%ld %ld\n", (long)allocations, (long)reads);
		fclose(to);
	}
}

static int fails(atomic_long *count, long at, int how)
{
	if (!begun || ++*count != at)
		return 0;
	errno = how;
	return 1;
}

void *malloc(size_t size)
{
	return fails(&allocations, fail_allocation, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(&allocations, fail_allocation, ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
	return fails(&allocations, fail_allocation, ENOMEM) ? NULL : __libc_realloc(block, size);
}

ssize_t read(int fd, void *bytes, size_t size)
{
	static ssize_t (*real)(int, void *, size_t);

	real = real ? real : (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	return fails(&reads, fail_read, EIO) ? -1 : real(fd, bytes, size);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
	static ssize_t (*real)(int, void *, size_t, off_t);

	real = real ? real : (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
	return fails(&reads, fail_read, EIO) ? -1 : real(fd, bytes, size, at);
}
