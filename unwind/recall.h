/*
 * Caches the last stack of each thread, so that unchanged outer frames are not unwound again. A
 * frame with the same registers at the same place has the same caller if the words that the step
 * read have not changed; a step has no other input. So recalled frames equal those that unwinding
 * would find. Private to the unwinder.
 */
#ifndef MT_UNWIND_RECALL_H
#define MT_UNWIND_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi/dump.h"
#include "unwind/cfi/rule.h"
#include "unwind/unwind.h"

struct mt_recall;
struct mt_walk;

/* A frame and how its caller's frame was found. Its return address is 8 bytes below its sp. */
struct mt_recalled {
	struct mt_position at;
	uint64_t slot; /* address that its fp was read from, or one of the values below */
	uint8_t source;
	bool call_return;
};

/*
 * Values of slot that no dump address has: fp is the callee's; the step read more and has to be
 * repeated.
 */
#define MT_SLOT_SAME ((uint64_t)0)
#define MT_SLOT_AGAIN ((uint64_t)1)

/* Stacks with more frames are not cached. A power of 2. */
#define MT_RECALL_FRAMES ((size_t)256)

/* The state of one walk. */
struct mt_recalling {
	struct mt_recall *kept; /* the thread's cached stack; NULL: neither read nor updated */
	/* the cached frames, outermost first, so that common frames stay in place */
	struct mt_recalled *frames;
	/* frames[next - 1] is the innermost frame that can still match */
	size_t next;
	/* this walk's frames, innermost first, except those recalled last */
	struct mt_recalled *trail;
	/*
	 * the frames recalled last: [from, from + count) of the walk are frames[first],
	 * frames[first - 1] ..
	 */
	size_t from, first, count;
	bool of_version; /* the result only holds for this version of the map */
	uint64_t slot;	 /* of the newest frame */
};

/* The cached stacks of all threads, to be freed with free(); NULL out of memory. */
struct mt_recall *mt_recall_create(void);

/* Call before and after a walk that starts at the sample's registers. */
void mt_recall_begin(struct mt_walk *walk);
void mt_recall_end(struct mt_walk *walk);

/* The slot of the caller's fp in a compact step from a frame with this fp to that CFA. */
static inline uint64_t mt_recall_slot(struct mt_rule rule, uint64_t fp, uint64_t cfa)
{
	uint64_t offset = (uint64_t)((int64_t)rule.fp_slot * 8);

	if (rule.kind == MT_RULE_FP_DEREF)
		return MT_SLOT_AGAIN;
	if (rule.fp == MT_RULE_FP_AT_CFA)
		return cfa + offset;
	return rule.fp == MT_RULE_FP_AT_FP && fp < cfa ? fp + offset : MT_SLOT_SAME;
}

static inline void mt_recall_note(struct mt_recalling *recalling, size_t i,
				  const struct mt_position *at, uint8_t source, bool call_return)
{
	recalling->trail[i % MT_RECALL_FRAMES] = (struct mt_recalled){
		.at = *at, .slot = recalling->slot, .source = source, .call_return = call_return};
}

/* Whether the cached stack has this frame, with a caller. */
static inline bool mt_recall_has(struct mt_recalling *recalling, const struct mt_position *at,
				 bool call_return)
{
	for (; recalling->next > 1; recalling->next--) {
		const struct mt_recalled *frame = &recalling->frames[recalling->next - 1];

		if (frame->at.sp >= at->sp)
			return frame->at.sp == at->sp && frame->at.pc == at->pc &&
			       frame->at.fp == at->fp && frame->call_return == call_return;
	}
	return false;
}

/*
 * After mt_recall_has() matched frame i: writes its callers to frames, while they are unchanged and
 * there is room, and returns their number. *last is the last one; frame i if there are none.
 */
size_t mt_recall_callers(struct mt_recalling *recalling, const struct mt_dump *dump, size_t i,
			 struct mt_frame *frames, size_t room, struct mt_recalled *last);

#endif
