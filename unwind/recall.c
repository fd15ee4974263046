/* The cached stacks of threads: lookup, comparison and update. */
#include "unwind/recall.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/memory.h"
#include "unwind/walk.h"

/* Threads are identified by their stacks' addresses: two threads at one place take turns. */
#define THREAD_BITS 5
#define STACK_SHIFT 18

struct mt_recall {
	size_t count;
	uint32_t version, generation; /* of the map */
	bool of_version;	      /* it only holds for that version */
	struct mt_recalled frames[MT_RECALL_FRAMES];
};

struct mt_recall *mt_recall_create(void)
{
	return mt_alloc((size_t)1 << THREAD_BITS, sizeof(struct mt_recall));
}

static size_t place_of(uint64_t sp, uint32_t generation)
{
	uint64_t stack = sp >> STACK_SHIFT ^ (uint64_t)generation << 32;

	return stack * 0x9e3779b97f4a7c15u >> (64 - THREAD_BITS);
}

void mt_recall_begin(struct mt_walk *walk)
{
	struct mt_recall *kept = &walk->unwinder->recall[place_of(walk->at.sp, walk->generation)];

	if (kept->version != walk->version &&
	    (kept->of_version || kept->generation != walk->generation))
		kept->count = 0;
	walk->recalling.kept = kept;
	walk->recalling.frames = kept->frames;
	walk->recalling.next = kept->count;
}

/* Copies recalled frames to the trail. */
static void copy_recalled(struct mt_recalling *recalling)
{
	for (size_t i = 0; i < recalling->count; i++)
		recalling->trail[(recalling->from + i) % MT_RECALL_FRAMES] =
			recalling->frames[recalling->first - i];
	recalling->count = 0;
}

/* Whether the walk ended with recalled frames that are already in place. */
static bool ends_recalled(const struct mt_recalling *recalling, size_t count)
{
	return recalling->count && recalling->first + 1 == recalling->count &&
	       recalling->from + recalling->count == count;
}

void mt_recall_end(struct mt_walk *walk)
{
	struct mt_recalling *recalling = &walk->recalling;
	struct mt_recall *kept = MT_TAKE(recalling->kept);
	size_t count = walk->stack->count - walk->first, fresh = recalling->from;

	recalling->next = 0;
	if (!ends_recalled(recalling, count)) {
		copy_recalled(recalling);
		fresh = count;
	}
	kept->of_version = recalling->of_version;
	kept->version = walk->version;
	kept->generation = walk->generation;
	kept->count = count <= MT_RECALL_FRAMES ? count : 0;
	for (size_t i = 0; i < fresh && i < kept->count; i++)
		kept->frames[count - 1 - i] = recalling->trail[i];
}

static bool holds(const struct mt_dump *dump, uint64_t address, uint64_t word)
{
	uint64_t value;

	return mt_dump_read(dump, address, &value) && value == word;
}

/*
 * Whether the words that the step to this frame read are unchanged. In code without CFI, a return
 * address into the dump is refused, so pc must not point there.
 */
static bool is_same(const struct mt_dump *dump, const struct mt_recalled *frame)
{
	return holds(dump, frame->at.sp - 8, frame->at.pc) &&
	       (frame->slot == MT_SLOT_SAME || holds(dump, frame->slot, frame->at.fp)) &&
	       frame->at.pc - dump->start >= dump->size;
}

size_t mt_recall_callers(struct mt_recalling *recalling, const struct mt_dump *dump, size_t i,
			 struct mt_frame *frames, size_t room, struct mt_recalled *last)
{
	const struct mt_recalled *met = &recalling->frames[recalling->next - 1], *frame = met;
	size_t n = 0;

	copy_recalled(recalling);
	while (n < room && frame > recalling->frames && is_same(dump, frame - 1)) {
		frame--;
		frames[n++] = (struct mt_frame){.pc = frame->at.pc,
						.sp = frame->at.sp,
						.source = frame->source,
						.call_return = frame->call_return};
	}
	recalling->from = i + 1;
	recalling->first = (size_t)(met - recalling->frames) - 1;
	recalling->count = n;
	recalling->next -= n;
	recalling->of_version |= n && recalling->kept->of_version;
	*last = *frame;
	return n;
}
