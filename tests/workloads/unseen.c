/*
 * Uses memory in ways that no recording shows, to test what the report says about it:
 *
 *	unseen ring      an io_uring, which is not used
 *	unseen advise    has some of its pages reclaimed by process_madvise
 *
 * Built for 32 bits with -DNARROW and without any library, the program maps 1 MiB ten times. It
 * exits with status 77 if the kernel refuses.
 */
#ifdef NARROW
static long call(long number, long *arguments)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(arguments) : "memory");
	return result;
}

void _start(void);

void _start(void)
{
	long arguments[6] = {0, 1 << 20, 3, 0x22, -1, 0};

	for (int i = 0; i < 10; i++)
		call(90, arguments); /* the first version of mmap */
	call(1, 0);
	for (;;)
		;
}
#else
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

enum {
	REFUSED = 77,
	SIZE = 1 << 20,
};

static long advise(void)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec range = {memory, SIZE};
	long self = syscall(SYS_pidfd_open, getpid(), 0);

	memset(memory, 1, SIZE);
	return syscall(SYS_process_madvise, self, &range, 1L, MADV_PAGEOUT, 0L);
}

int main(int argc, char **argv)
{
	char parameters[120] = {0}; /* struct io_uring_params */
	long result = argc > 1 && !strcmp(argv[1], "ring")
			      ? syscall(SYS_io_uring_setup, 8L, parameters)
			      : advise();

	return result < 0 ? REFUSED : 0;
}
#endif
