/* One perf ring buffer: maps it and reads its records without copying. One reader at a time. */
#ifndef MT_RECORD_OPEN_RING_H
#define MT_RECORD_OPEN_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_header;
struct perf_event_mmap_page;

#define MT_RING_RECORD_MAX 65536 /* perf_event_header.size is a u16 */

struct mt_ring {
	int fd; /* event that owns the ring, for poll; the caller closes it */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t size;	     /* bytes of data, a power of two */
	uint64_t head, tail; /* bounds of the current pass */
	uint8_t *joined;     /* copy of a record that wraps around the end */
};

/* Maps `size` bytes of ring (a power of two of pages) for a perf event. -1 with errno. */
int mt_ring_map(int fd, size_t size, struct mt_ring *out);
void mt_ring_unmap(struct mt_ring *ring);

/* Begins a pass: reads the kernel's head. Returns true if there are records to read. */
bool mt_ring_begin(struct mt_ring *ring);

/*
 * Returns the next record of the pass, valid until mt_ring_give_back(). Returns NULL at the end of
 * the pass and at invalid records; the remainder of the pass is then skipped.
 */
const struct perf_event_header *mt_ring_next(struct mt_ring *ring);

/*
 * Prefetch the beginning of the next record and, some time later, its end. Both were written by
 * another CPU, and even skipping the record reads both.
 */
void mt_ring_ask_begin(const struct mt_ring *ring);
void mt_ring_ask_end(const struct mt_ring *ring);

/* Returns how many bytes the kernel has written into the ring so far. */
uint64_t mt_ring_written(const struct mt_ring *ring);

/*
 * Returns the bytes in the ring at present. Any thread may call it; the result is outdated at once.
 */
size_t mt_ring_used(const struct mt_ring *ring);

/* Gives the space of the records read so far back to the kernel. */
void mt_ring_give_back(struct mt_ring *ring);

#endif
