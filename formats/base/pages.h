/*
 * Memory straight from the system, every page of it there: using it later faults nothing and asks
 * nobody. MAP_POPULATE does not serve: under mlockall(MCL_ONFAULT) it does nothing.
 */
#ifndef MT_FORMATS_BASE_PAGES_H
#define MT_FORMATS_BASE_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define MT_PAGE_MIN ((size_t)4096) /* no page is smaller */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* The same for memory that others use meanwhile; before Linux 5.14 it stays as it is. */
static inline void mt_pages_populate(void *bytes, size_t size)
{
	(void)madvise(bytes, size, MADV_POPULATE_WRITE);
}

/* Zeroed; NULL out of memory. munmap() gives it back. */
static inline void *mt_pages_map(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	for (size_t at = 0; at < size; at += MT_PAGE_MIN)
		((volatile uint8_t *)bytes)[at] = 0;
	return bytes;
}

#endif
