#include "formats/base/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	FIRST_MEMORY = 60 << 20, /* bytes of address space that the heap begins with */
	KEPT_MEMORY = 64 << 20,	 /* free at its end */
	MORE_MEMORY = 1 << 20,	 /* asked for at once */
	MAPPED_MEMORY = 4 << 20, /* larger allocations grow without being copied */
	SMALL_PAGE = 4 << 10,
	HUGE_PAGE = 2 << 20,
};

/*
 * The heap begins with room that is populated on use, in huge pages if the system has them. A fault
 * of a huge page costs less than a third of the faults of its small pages, and scattered data needs
 * fewer page table walks. The heap starts a little before a huge page, because malloc() writes
 * there before huge pages can be requested. The part before it only costs address space.
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

void mt_heap_begin(void)
{
	/* freed memory is soon needed again: returned to the kernel, it would be faulted in anew */
	mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
	mallopt(M_MMAP_THRESHOLD, MAPPED_MEMORY);
	begin_in_huge_pages();
	mallopt(M_TOP_PAD, MORE_MEMORY);
}
