/*
 * Classifies a path by the blocks that it allocated: which of each age still live. No I/O.
 */
#ifndef MT_REPORT_VERDICTS_BLOCK_VERDICT_H
#define MT_REPORT_VERDICTS_BLOCK_VERDICT_H

#include <stddef.h>
#include <stdint.h>

struct mt_heap_parts;
struct mt_history;
struct mt_history_scale;
struct mt_verdict;

/*
 * Judges a history of lives in a process that was observed from `begin` to `end` (ns). Settles the
 * history. Rules, the first that holds:
 *
 * 1. Too little data, as of other memory.
 * 2. One-off: what lives is of the oldest tenth of the time.
 * 3. Leak: what is held grows steadily, and in the older tenths, behind the age at which others
 *    are freed, about the same part of the blocks lives.
 * 4. Bounded: what lives is young, or no more is held while new blocks replace old ones.
 * 5. As of other memory.
 */
void mt_verdict_judge_blocks(struct mt_history *history, const struct mt_history_scale *scale,
			     uint64_t begin, uint64_t end, struct mt_verdict *out);

/* Bytes that are free inside. */
double mt_heap_free(const struct mt_heap_parts *heap);

/* RETENTION where the allocator keeps most of it free, else IN_USE. */
void mt_verdict_judge_heap(const struct mt_heap_parts *heap, struct mt_verdict *out);

/*
 * "12.0 MB mapped by the allocator, of which 8.1 MB hold 1,234 live blocks, those of other rows
 * included; 3.0 MB free, 0.9 MB untouched".
 */
void mt_heap_grounds(const struct mt_heap_parts *heap, char *out, size_t size);

#endif
