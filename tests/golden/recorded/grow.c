/*
 * The program that the recordings of this folder show: it has no C library and grows in known
 * ways, and its binary is small enough to be kept in this folder. ./remake builds it.
 *
 *	grow.elf	heap, areas, a child of another name
 *	grow.elf wait	the same, once a byte comes from standard input
 *	grow.elf a b	the same many times over
 */
enum {
	SYS_READ = 0,
	SYS_MMAP = 9,
	SYS_MUNMAP = 11,
	SYS_BRK = 12,
	SYS_MREMAP = 25,
	SYS_FORK = 57,
	SYS_EXIT = 60,
	SYS_WAIT4 = 61,
	SYS_UNAME = 63,
	SYS_PRCTL = 157,
	PAGE = 4096,
	ROUNDS = 400,
	PR_SET_NAME = 15,
};

#define APART __attribute__((noinline, noclone))
#define WITHOUT_FRAME_POINTER __attribute__((noinline, noclone, optimize("omit-frame-pointer")))

static long call(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = -1;
	register long r9 __asm__("r9") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

APART static void touch(volatile char *at, long pages)
{
	for (long i = 0; i < pages; i++)
		at[i * PAGE] = 1;
}

/* Grows the heap by a page, `depth` calls down. */
WITHOUT_FRAME_POINTER static long heap_grow(long depth)
{
	volatile char pad[64];
	long end;

	pad[0] = (char)depth;
	if (depth)
		return heap_grow(depth - 1) + pad[0];
	end = call(SYS_BRK, 0, 0, 0, 0);
	call(SYS_BRK, end + PAGE, 0, 0, 0);
	touch((volatile char *)end, 1);
	return end;
}

APART static void heap(void)
{
	for (long i = 0; i < 12; i++)
		heap_grow(i % 4);
}

APART static char *area_take(long pages)
{
	char *area = (char *)call(SYS_MMAP, 0, pages * PAGE, 3, 0x22);

	touch(area, pages);
	return area;
}

/* The kernel is the first to touch the page. */
APART static void area_filled(void)
{
	char *area = (char *)call(SYS_MMAP, 0, PAGE, 3, 0x22);

	call(SYS_UNAME, (long)area, 0, 0, 0);
}

APART static void area_drop(char *area, long pages)
{
	call(SYS_MUNMAP, (long)area, pages * PAGE, 0, 0);
}

APART static void areas(void)
{
	char *kept = area_take(3);

	area_filled();
	for (long i = 1; i < 5; i++)
		area_drop(area_take(i), i);
	call(SYS_MREMAP, (long)kept, 3 * PAGE, 6 * PAGE, 1);
}

APART static void child(void)
{
	call(SYS_PRCTL, PR_SET_NAME, (long)"offspring", 0, 0);
	area_take(5);
	call(SYS_EXIT, 0, 0, 0, 0);
}

APART static void run(void)
{
	long pid;

	heap();
	areas();
	pid = call(SYS_FORK, 0, 0, 0, 0);
	if (!pid)
		child();
	call(SYS_WAIT4, pid, 0, 0, 0);
	heap();
}

__attribute__((noreturn, used)) void grow_main(const long *stack);

void grow_main(const long *stack)
{
	char byte;

	if (stack[0] == 2)
		call(SYS_READ, 0, (long)&byte, 1, 0);
	for (long rounds = stack[0] > 2 ? ROUNDS : 1; rounds > 0; rounds--)
		run();
	call(SYS_EXIT, 0, 0, 0, 0);
	__builtin_unreachable();
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	call grow_main\n"
	"	hlt\n"
	".cfi_endproc\n"
	".size _start, . - _start\n");
