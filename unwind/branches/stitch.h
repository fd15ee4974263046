/*
 * Call stacks of branch records, longer than the hardware keeps them: the outer callers that an
 * earlier sample of the thread still had.
 *
 * The hardware keeps so many records, in numbered registers; each call takes the next, each return
 * gives it back. Where the outermost record of a sample stands unchanged, in the same register, in
 * the sample before, what that one has further out is further out here, too. What happened in
 * between is not seen: that the stack has moved by a multiple of all registers, or was left and
 * built up again by the same calls. So of records that repeat themselves - a function that calls
 * itself from one place - nothing is taken, and samples have to come more often than that.
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
	uint64_t thread; /* any number that no two threads share */
	const struct mt_branch *branches;
	size_t count;
	uint64_t index; /* of the register of the newest record */
};

/* NULL out of memory. */
struct mt_stitcher *mt_stitcher_create(void);
void mt_stitcher_destroy(struct mt_stitcher *stitcher);

/*
 * The next sample of its thread, in order of time. *out: the records that stand behind its own,
 * *count of them, borrowed until the next call. False out of memory.
 */
bool mt_stitcher_add(struct mt_stitcher *stitcher, const struct mt_stitch_input *input,
		     const struct mt_branch **out, size_t *count);

/* Forgets all threads: another recording begins. */
void mt_stitcher_reset(struct mt_stitcher *stitcher);

#endif
