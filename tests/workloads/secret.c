/*
 * Faults pages below outer(), middle() and inner() with secrets on its stack and in its registers:
 * secret WORD PAGES. The stack has "on-the-stack-4711", and WORD as an argument and in the
 * environment. Registers have 0x4712471247124712. If PAGES is 0, the program does not end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WINDOW 64

static volatile char *window;

/* Touches a page while callee-saved registers hold a secret. */
static __attribute__((noinline)) void inner(size_t page)
{
	__asm__ volatile("movabs $0x4712471247124712, %%rbx\n\t"
			 "mov %%rbx, %%r12\n\t"
			 "mov %%rbx, %%r13\n\t"
			 "mov %%rbx, %%r14\n\t"
			 "mov %%rbx, %%r15\n\t"
			 "mov %%rbx, %%rcx\n\t"
			 "mov %%rbx, %%r11\n\t"
			 "movb $1, (%0)"
			 :
			 : "a"(window + page * 4096)
			 : "rbx", "rcx", "r11", "r12", "r13", "r14", "r15", "memory");
}

static __attribute__((noinline)) void middle(size_t page)
{
	char secret[] = "no,uid,ru`bj,5600";

	for (size_t i = 0; i < sizeof(secret) - 1; i++) /* so that the program file lacks it */
		secret[i] = (char)(secret[i] ^ 1);
	__asm__ volatile("" : : "r"(secret) : "memory");
	inner(page);
	__asm__ volatile("" : : "r"(secret) : "memory");
}

static __attribute__((noinline)) void outer(size_t page)
{
	middle(page);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	size_t pages = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;

	window = mmap(NULL, WINDOW * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (window == MAP_FAILED)
		return 1;
	for (size_t i = 0; !pages || i < pages; i++) {
		if (i && i % WINDOW == 0)
			madvise((void *)window, WINDOW * 4096, MADV_DONTNEED);
		outer(i % WINDOW);
	}
	return 0;
}
