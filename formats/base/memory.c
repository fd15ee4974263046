#include "formats/base/memory.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	FIRST_MEMORY = 60 << 20, /* bytes of address space that the heap begins with */
	KEPT_MEMORY = 64 << 20,	 /* most bytes that stay free at the end of the heap */
	MORE_MEMORY = 1 << 20,	 /* bytes by which the heap grows beyond a request */
	MAPPED_MEMORY = 4 << 20, /* larger allocations are mapped, and grow without being copied */
	SMALL_PAGE = 4 << 10,
	HUGE_PAGE = 2 << 20,
};

/*
 * Begins the heap with memory that is populated on use, in huge pages if the system has them. A
 * fault of a huge page costs less than a third of the faults of its small pages, and scattered data
 * needs fewer page table walks. The heap starts a little before a huge page, because malloc()
 * writes there before huge pages can be requested. The part before the huge page only costs address
 * space.
 */
static void begin_in_huge_pages(void)
{
	uintptr_t from = (uintptr_t)sbrk(0), first_huge, to;
	void *volatile first;

	if (from == UINTPTR_MAX)
		return;
	first_huge = (from + SMALL_PAGE + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	if ((uintptr_t)sbrk((intptr_t)(first_huge - SMALL_PAGE - from)) != from)
		return;
	mallopt(M_TOP_PAD, FIRST_MEMORY);
	first = malloc(1);
	free(first);
	to = (uintptr_t)sbrk(0) & ~(uintptr_t)(HUGE_PAGE - 1);
	if (first_huge < to)
		(void)madvise((void *)first_huge, to - first_huge, MADV_HUGEPAGE);
}

void mt_memory_tune(void)
{
	/* freed memory is soon used again; memory returned to the kernel would fault again */
	mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
	mallopt(M_MMAP_THRESHOLD, MAPPED_MEMORY);
	begin_in_huge_pages();
	mallopt(M_TOP_PAD, MORE_MEMORY);
}

static void (*memory_end)(void);

void mt_memory_set_end(void (*end)(void))
{
	memory_end = end;
}

void mt_memory_failed(void)
{
	if (memory_end)
		memory_end();
}

static void *checked(void *memory)
{
	if (!memory)
		mt_memory_failed();
	return memory;
}

void *mt_alloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *mt_resize(void *items, size_t count, size_t size)
{
	return checked(reallocarray(items, count ? count : 1, size));
}

char *mt_copy_string(const char *string)
{
	return checked(strdup(string));
}

char *mt_copy_bytes(const char *string, size_t length)
{
	return checked(strndup(string, length));
}

char *mt_format(const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return checked(length < 0 ? NULL : text);
}

FILE *mt_open_text(char **text, size_t *size)
{
	return checked(open_memstream(text, size));
}
