/*
 * Faults pages below code that cannot be unwound: no CFI, and no frame pointer. The frame of that
 * code is small; with "large" it is larger than the range that mtreport --scan searches.
 *
 *	uncharted PAGES [large | leftovers]
 *
 * With "leftovers", return addresses of earlier calls are left in the place of that frame.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline, noipa))

void small_frame(void (*f)(void));
void large_frame(void (*f)(void));

__asm__(".text\n"
	".globl small_frame\n"
	"small_frame:\n"
	"	push %rbp\n"
	"	sub $256, %rsp\n"
	"	mov $1, %ebp\n"
	"	call *%rdi\n"
	"	add $256, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".globl large_frame\n"
	"large_frame:\n"
	"	push %rbp\n"
	"	sub $4096, %rsp\n"
	"	mov $1, %ebp\n"
	"	call *%rdi\n"
	"	add $4096, %rsp\n"
	"	pop %rbp\n"
	"	ret\n");

static char *page, *end;
static volatile int sink;

NOINLINE static void touch(void)
{
	if (page < end)
		*(volatile char *)page = 1;
	page += 4096;
	sink++;
}

NOINLINE static void callback(void)
{
	touch();
	sink++;
}

NOINLINE static void outer(void (*frame)(void (*)(void)))
{
	frame(callback);
	sink++;
}

NOINLINE static void direct(void)
{
	small_frame(callback);
	sink++;
}

NOINLINE static int sum(int n)
{
	volatile char local[40];

	local[n % 40] = 1;
	return n ? sum(n - 1) + local[n % 40] : 0;
}

NOINLINE static int compare(const void *a, const void *b)
{
	sink += sum(3);
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void leave_over(int how)
{
	int numbers[8] = {3, 1, 4, 1, 5, 9, 2, 6};

	if (how)
		qsort(numbers, 8, sizeof(numbers[0]), compare);
	else
		sink += sum(12);
	sink++;
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 0) * 4096 : 0;

	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!size || page == MAP_FAILED) {
		fputs("usage: uncharted PAGES [large]\n", stderr);
		return 2;
	}
	madvise(page, size, MADV_NOHUGEPAGE);
	end = page + size;
	for (int i = 0; page < end && argc > 2 && argv[2][1] == 'e'; i++) {
		leave_over(i % 2);
		direct();
	}
	while (page < end)
		outer(argc > 2 ? large_frame : small_frame);
	return 0;
}
