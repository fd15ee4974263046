/*
 * Populated memory: later use of it takes no page fault. MAP_POPULATE cannot be used, because under
 * mlockall(MCL_ONFAULT) it does nothing.
 */
#ifndef MT_FORMATS_BASE_PAGES_H
#define MT_FORMATS_BASE_PAGES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define MT_PAGE_MIN ((size_t)4096) /* the smallest page size */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/*
 * Populates page-aligned memory, which other threads may use meanwhile. False with errno; EINVAL
 * before Linux 5.14.
 */
static inline bool mt_pages_populate(void *bytes, size_t size)
{
	return !madvise(bytes, size, MADV_POPULATE_WRITE);
}

/*
 * Populates memory from malloc() that will be used in full, including pages it shares with other
 * allocations. This avoids page faults, each of which would be a sample if faults are recorded.
 * Before Linux 5.14 it does nothing.
 */
static inline void mt_pages_prefault(void *bytes, size_t size)
{
	uintptr_t page = MT_PAGE_MIN - 1, start = (uintptr_t)bytes & ~page;

	if (bytes && size)
		(void)mt_pages_populate((void *)start,
					(((uintptr_t)bytes + size + page) & ~page) - start);
}

/*
 * Populates memory for a real-time thread, on every kernel: a page fault takes mmap_lock, and the
 * thread would wait there for threads of any priority. Other threads may use the memory meanwhile.
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
 * Maps zeroed, populated pages; NULL out of memory. munmap() frees them. Without
 * MADV_POPULATE_WRITE, touches each page once; each of those faults is a sample if faults are
 * recorded. Does not ask for huge pages: in a virtual machine a huge page costs more than 512
 * small ones.
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
