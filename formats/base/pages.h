/*
 * Memory straight from the system, every page of it there: using it later faults nothing and asks
 * nobody. MAP_POPULATE does not serve: under mlockall(MCL_ONFAULT) it does nothing.
 */
#ifndef MT_FORMATS_BASE_PAGES_H
#define MT_FORMATS_BASE_PAGES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define MT_PAGE_MIN ((size_t)4096) /* no page is smaller */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* Pages for memory that others may use meanwhile; false with errno, EINVAL before Linux 5.14. */
static inline bool mt_pages_populate(void *bytes, size_t size)
{
	return !madvise(bytes, size, MADV_POPULATE_WRITE);
}

/*
 * The same for memory that malloc() gave and that will be used from end to end: each of its pages
 * that is touched for the first time would be a fault, and where those are recorded a sample of our
 * own, which costs more than the page. Pages that it shares with others come, too.
 */
static inline void mt_pages_prefault(void *bytes, size_t size)
{
	uintptr_t page = MT_PAGE_MIN - 1, start = (uintptr_t)bytes & ~page;

	if (bytes && size)
		(void)mt_pages_populate((void *)start,
					(((uintptr_t)bytes + size + page) & ~page) - start);
}

/*
 * The same for memory that a real-time thread uses, whatever the kernel: a fault takes the address
 * space's lock, for which it would wait behind threads of any priority. Others may use it
 * meanwhile.
 */
static inline void mt_pages_ready(void *bytes, size_t size)
{
	uintptr_t page = MT_PAGE_MIN - 1, start = (uintptr_t)bytes & ~page;
	uintptr_t end = (uintptr_t)bytes + size;

	if (!size || mt_pages_populate((void *)start, ((end + page) & ~page) - start))
		return;
	for (uintptr_t at = (uintptr_t)bytes; at < end; at = (at & ~page) + MT_PAGE_MIN)
		__atomic_fetch_or((uint8_t *)at, 0, __ATOMIC_RELAXED);
}

/*
 * Zeroed; NULL out of memory. munmap() gives it back. Touched page by page only where there is no
 * other way: each of those faults would be a sample of our own where faults are recorded. No huge
 * pages: in a virtual machine one costs more than the 512 small ones that were in use before.
 */
static inline void *mt_pages_map(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	if (mt_pages_populate(bytes, size))
		return bytes;
	if (errno == ENOMEM) {
		munmap(bytes, size);
		return NULL;
	}
	for (size_t at = 0; at < size; at += MT_PAGE_MIN)
		((volatile uint8_t *)bytes)[at] = 0;
	return bytes;
}

#endif
