/*
 * Faults pages behind code that nothing tells how to unwind: no CFI, and no frame pointer. Its
 * frame is small, or with a second word larger than what mtreport --scan looks at.
 *
 *	uncharted PAGES [large]
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
	while (page < end)
		outer(argc > 2 ? large_frame : small_frame);
	return 0;
}
