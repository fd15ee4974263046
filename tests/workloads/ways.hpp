/*
 * Faulting pages from stacks that tell what they ought to be, for the joiner: every way W has
 * functions root_W, middle_W and leaf_W of its own, so a stack with leaf_W may hold no function of
 * another way. Deep calls keep 24 KiB on the stack, so that a small dump ends within them.
 */
#ifndef MT_TESTS_WORKLOADS_WAYS_H
#define MT_TESTS_WORKLOADS_WAYS_H

#include <cstddef>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))
#define STACK (256 << 10)

static char *page, *pages_end;

/* So many bytes of pages to touch; false where there are none. */
static inline bool map_pages(size_t size)
{
	void *pages =
		mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return false;
	madvise(pages, size, MADV_NOHUGEPAGE);
	page = (char *)pages;
	pages_end = page + size;
	return true;
}

/* The next one, in whatever thread. */
static NOINLINE void touch()
{
	char *next = __atomic_fetch_add(&page, 4096, __ATOMIC_RELAXED);

	if (next < pages_end)
		*(volatile char *)next = 1;
}

static inline void nothing()
{
}

/* What to do in the leaf behind the fault. */
#define LEAF(name, leave)                          \
	static NOINLINE int leaf_##name(int round) \
	{                                          \
		touch();                           \
		leave();                           \
		return round + 1;                  \
	}

#define ON_LARGE_FRAME(call)                               \
	volatile char large[24 << 10];                     \
	for (unsigned i = 0; i < sizeof(large); i += 1024) \
		large[i] = 1;                              \
	return (call) + large[1024]

/* Every other call is shallow, so that its stack is whole. */
#define WAY(name, leave)                                                            \
	LEAF(name, leave)                                                           \
	static NOINLINE int middle_##name(int round)                                \
	{                                                                           \
		ON_LARGE_FRAME(leaf_##name(round));                                 \
	}                                                                           \
	static NOINLINE int root_##name(int round)                                  \
	{                                                                           \
		return (round & 1 ? leaf_##name(round) : middle_##name(round)) + 1; \
	}

#endif
