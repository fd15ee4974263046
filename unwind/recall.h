/*
 * The last stack of a thread, frame by frame with what each step read, so that the next one need
 * not be walked where it is the same: outer frames mostly are. A frame that stands as one did then,
 * the same registers at the same place, has the same caller if the words that the step read then
 * are the same now; nothing else goes into a step. So what is recalled is what walking would give.
 * Private to the unwinder.
 */
#ifndef MT_UNWIND_RECALL_H
#define MT_UNWIND_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/dump.h"
#include "unwind/rule.h"
#include "unwind/unwind.h"

struct mt_recall;
struct mt_walk;

/* A frame, and how its caller was found: its return address stands 8 bytes below its sp. */
struct mt_recalled {
	struct mt_position at;
	uint64_t slot; /* where its fp was read from, or one of these */
	uint8_t source;
	bool call_return;
};

/*
 * Of slot: its callee's fp is its own; and a step that read more, which is made again. No dump has
 * these addresses.
 */
#define MT_SLOT_SAME ((uint64_t)0)
#define MT_SLOT_AGAIN ((uint64_t)1)

/* Stacks with more frames are not kept: a power of 2. */
#define MT_RECALL_FRAMES ((size_t)256)

/* Of one walk. */
struct mt_recalling {
	struct mt_recall *kept;	    /* of the thread; NULL: nothing is recalled, and nothing kept */
	struct mt_recalled *frames; /* its frames, the outermost first: what is common stays */
	size_t next;		    /* of those that may yet be met the innermost is at next - 1 */
	struct mt_recalled *trail;  /* this walk's, the innermost first; not those recalled last: */
	size_t from, first, count;  /* [from, from + count) are frames[first], first - 1 .. */
	bool of_version;	    /* what was found holds for this version of the map alone */
	uint64_t slot;		    /* of the newest frame */
};

/* What threads' last stacks are kept in; NULL out of memory. */
struct mt_recall *mt_recall_create(void);

/* Before a walk from the sample's registers on, and after it. */
void mt_recall_begin(struct mt_walk *walk);
void mt_recall_end(struct mt_walk *walk);

/* How the caller's fp was found, by a compact step from a frame with this fp to that CFA. */
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

/* Whether a frame stood like this one, with a caller. */
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
 * The callers of frame i, which mt_recall_has() met, as far as they are what they were and there is
 * room: writes them to frames, and gives how many. *last is the last of them, if there is one.
 */
size_t mt_recall_callers(struct mt_recalling *recalling, const struct mt_dump *dump, size_t i,
			 struct mt_frame *frames, size_t room, struct mt_recalled *last);

#endif
