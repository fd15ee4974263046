/* Classifies a path by the blocks that it allocated: how many of each age are live. No I/O. */
#ifndef MT_REPORT_VERDICTS_BLOCK_VERDICT_H
#define MT_REPORT_VERDICTS_BLOCK_VERDICT_H

#include <stddef.h>
#include <stdint.h>

struct mt_heap_parts;
struct mt_history;
struct mt_history_scale;
struct mt_verdict;

/*
 * Judges a history of blocks in a process that was observed from `begin` to `end` (ns). Settles the
 * history. The first rule that applies decides:
 *
 * 1. Too little data: as for other memory.
 * 2. One-off: the live blocks are from the oldest tenth of the time.
 * 3. Leak: the held bytes grow steadily, and about the same part of the blocks is live in each of
 *    the older tenths, past the age at which other blocks are freed.
 * 4. Bounded: the live blocks are young, or the held bytes do not grow while new blocks replace old
 *    ones.
 * 5. As for other memory.
 */
void mt_verdict_judge_blocks(struct mt_history *history, const struct mt_history_scale *scale,
			     uint64_t begin, uint64_t end, struct mt_verdict *out);

/* Bytes that are free inside the allocator's memory. */
double mt_heap_free(const struct mt_heap_parts *heap);

/* RETENTION if most of the allocator's memory is unused, else IN_USE. */
void mt_verdict_judge_heap(const struct mt_heap_parts *heap, struct mt_verdict *out);

/*
 * Writes a text like "12.0 MB mapped by the allocator, of which 8.1 MB hold 1,234 live blocks,
 * those of other rows included; 3.0 MB free, 0.9 MB untouched".
 */
void mt_heap_grounds(const struct mt_heap_parts *heap, char *out, size_t size);

#endif
