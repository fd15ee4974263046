/*
 * Extends a hardware call stack beyond the number of branch records that the CPU keeps, with outer
 * callers from an earlier sample of the thread.
 *
 * The CPU keeps branch records in numbered registers: a call takes the next register, a return
 * frees it. If the outermost record of a sample is in the previous sample, unchanged and in the
 * same register, that sample's outer records are outer callers here, too. Two events between the
 * samples would go unnoticed: the stack moved by a multiple of all registers, or it was left and
 * rebuilt by the same calls. So repeating records (a function that calls itself from one place) are
 * not stitched, and samples have to be frequent.
 */
#ifndef MT_UNWIND_BRANCHES_STITCH_H
#define MT_UNWIND_BRANCHES_STITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_branch;
struct mt_stitcher;

/* A sample's call stack, newest record first. */
struct mt_stitch_input {
	uint64_t thread; /* unique number of the thread */
	const struct mt_branch *branches;
	size_t count;
	uint64_t index; /* register of the newest record */
};

/* NULL out of memory. */
struct mt_stitcher *mt_stitcher_create(void);
void mt_stitcher_destroy(struct mt_stitcher *stitcher);

/*
 * Adds a sample; samples of a thread come in order of time. *out is the *count records that follow
 * its own, borrowed until the next call. False out of memory.
 */
bool mt_stitcher_add(struct mt_stitcher *stitcher, const struct mt_stitch_input *input,
		     const struct mt_branch **out, size_t *count);

/* Drops all threads, before another recording. */
void mt_stitcher_reset(struct mt_stitcher *stitcher);

#endif
