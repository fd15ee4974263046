/*
 * One perf ring buffer: mapping it, and walking its records without a copy. One reader at a time.
 */
#ifndef MT_RECORD_OPEN_RING_H
#define MT_RECORD_OPEN_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_header;
struct perf_event_mmap_page;

#define MT_RING_RECORD_MAX 65536 /* perf_event_header.size is a u16 */

struct mt_ring {
	int fd; /* whose ring it is; polled. The caller closes it */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t size;	     /* of the data, a power of two */
	uint64_t head, tail; /* of the pass under way */
	uint8_t *joined;     /* a record that wraps around the end, made whole */
};

/* Maps `size` bytes of ring (a power of two of pages) for a perf event; -1 with errno. */
int mt_ring_map(int fd, size_t size, struct mt_ring *out);
void mt_ring_unmap(struct mt_ring *ring);

/* Begins a pass: takes the kernel's head. True where there is anything to read. */
bool mt_ring_begin(struct mt_ring *ring);

/*
 * The next record of the pass, valid until mt_ring_give_back(); NULL at its end, or at bytes that
 * make no sense (which are then skipped).
 */
const struct perf_event_header *mt_ring_next(struct mt_ring *ring);

/*
 * Asks memory for where the record behind the last one begins; and, a while later, for where it
 * ends: both were written on another CPU, and a walk over a record waits for either.
 */
void mt_ring_ask_begin(const struct mt_ring *ring);
void mt_ring_ask_end(const struct mt_ring *ring);

/* Bytes that the kernel has written into it so far. */
uint64_t mt_ring_written(const struct mt_ring *ring);

/* Bytes that wait in the ring now; may be asked by anyone, and is old at once. */
size_t mt_ring_used(const struct mt_ring *ring);

/* Hands what was read so far back to the kernel. */
void mt_ring_give_back(struct mt_ring *ring);

#endif
