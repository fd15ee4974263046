/* The perf mmap protocol: acquire data_head, read, release data_tail. */
#include "record/open/ring.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/pages.h"

#define LINE 64
#define FRONT 10 /* cache lines: all that precedes a dump, and the start of the dump */

/*
 * Maps all pages of the ring. Most kernels map a page at its first access; newer kernels map all
 * pages at once and refuse MADV_POPULATE_READ. The first write to the control page faults on all
 * kernels. Kernels before 5.14 refuse MADV_POPULATE_READ even for zero bytes.
 */
static void make_present(struct perf_event_mmap_page *control, size_t page, size_t size)
{
	const volatile uint8_t *bytes = (const volatile uint8_t *)control;
	bool can_ask = !madvise(control, 0, MADV_POPULATE_READ);

	if (can_ask)
		(void)madvise(control, page + size, MADV_POPULATE_READ);
	for (size_t at = 0; !can_ask && at < page + size; at += page)
		(void)bytes[at];
	__atomic_store_n(&control->data_tail, 0, __ATOMIC_RELEASE);
}

int mt_ring_map(int fd, size_t size, struct mt_ring *out)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint8_t *joined;

	if (base == MAP_FAILED)
		return -1;
	joined = mt_pages_map(MT_RING_RECORD_MAX);
	if (!joined) {
		munmap(base, page + size);
		return -1;
	}
	make_present(base, page, size);
	*out = (struct mt_ring){.fd = fd,
				.page = base,
				.data = (uint8_t *)base + page,
				.size = size,
				.joined = joined};
	return 0;
}

void mt_ring_unmap(struct mt_ring *ring)
{
	if (!ring->page)
		return;
	munmap(ring->page, (size_t)(ring->data - (uint8_t *)ring->page) + ring->size);
	munmap(ring->joined, MT_RING_RECORD_MAX);
	*ring = (struct mt_ring){0};
}

size_t mt_ring_used(const struct mt_ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_RELAXED);
	uint64_t tail = __atomic_load_n(&ring->page->data_tail, __ATOMIC_RELAXED);

	return (size_t)(head - tail);
}

uint64_t mt_ring_written(const struct mt_ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_RELAXED);
}

bool mt_ring_begin(struct mt_ring *ring)
{
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	return ring->head != ring->tail;
}

/*
 * Returns true if the record's size is a multiple of a word, so that no header wraps around the
 * end, and the record lies within the available bytes.
 */
static bool makes_sense(const struct mt_ring *ring, const struct perf_event_header *header)
{
	uint64_t available = ring->head - ring->tail;

	return available <= ring->size && header->size >= sizeof(*header) && !(header->size % 8) &&
	       header->size <= available;
}

const struct perf_event_header *mt_ring_next(struct mt_ring *ring)
{
	size_t at = ring->tail & (ring->size - 1), until_end = ring->size - at;
	const struct perf_event_header *header = (const void *)(ring->data + at);

	if (ring->tail == ring->head)
		return NULL;
	if (!makes_sense(ring, header)) {
		ring->tail = ring->head;
		return NULL;
	}
	ring->tail += header->size;
	if (header->size <= until_end)
		return header;
	memcpy(ring->joined, header, until_end);
	memcpy(ring->joined + until_end, ring->data, header->size - until_end);
	return (const void *)ring->joined;
}

static const uint8_t *at(const struct mt_ring *ring, uint64_t position)
{
	return ring->data + (position & (ring->size - 1));
}

void mt_ring_ask_begin(const struct mt_ring *ring)
{
	for (size_t i = 0; i < FRONT; i++)
		__builtin_prefetch(at(ring, ring->tail + i * LINE));
}

/* Does not check the size of the record: a prefetch of any place in the ring is harmless. */
void mt_ring_ask_end(const struct mt_ring *ring)
{
	const struct perf_event_header *header = (const void *)at(ring, ring->tail);

	if (ring->tail != ring->head)
		__builtin_prefetch(at(ring, ring->tail + header->size - 8));
}

void mt_ring_give_back(struct mt_ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
