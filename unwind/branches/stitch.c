/* Keeps each thread's last call stack with its stitched records, and matches the next one. */
#include "unwind/branches/stitch.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/records/sample.h"

enum {
	DEPTH_MAX = 256,    /* registers; the hardware of today has 64 at most */
	CALLERS_MAX = 1024, /* records of one stack, stitched ones too */
	RUN_LEAST = 4,	    /* records that two samples share, for one to be proven by the other */
	PERIOD_MAX = 2,
};

struct thread {
	struct mt_branch records[CALLERS_MAX];
	size_t count, own; /* own: of the sample itself */
	uint64_t index;
};

struct mt_stitcher {
	struct mt_map64 threads; /* to indices */
	MT_ARRAY(struct thread *) list;
	size_t depth; /* the most records of a sample: when one is full, all there are */
	uint64_t most_index;
};

struct mt_stitcher *mt_stitcher_create(void)
{
	return calloc(1, sizeof(struct mt_stitcher));
}

void mt_stitcher_reset(struct mt_stitcher *stitcher)
{
	while (stitcher->list.count)
		free(stitcher->list.items[--stitcher->list.count]);
	mt_map64_deinit(&stitcher->threads);
	stitcher->depth = 0;
	stitcher->most_index = 0;
}

void mt_stitcher_destroy(struct mt_stitcher *stitcher)
{
	if (!stitcher)
		return;
	mt_stitcher_reset(stitcher);
	mt_array_deinit(&stitcher->list);
	free(stitcher);
}

static struct thread *thread_of(struct mt_stitcher *stitcher, uint64_t number)
{
	struct thread **slot;
	uint64_t at;

	if (mt_map64_get(&stitcher->threads, number, &at))
		return stitcher->list.items[at];
	slot = mt_array_push(&stitcher->list);
	if (!slot)
		return NULL;
	*slot = malloc(sizeof(**slot));
	if (!*slot || !mt_map64_put(&stitcher->threads, number, stitcher->list.count - 1)) {
		free(*slot);
		stitcher->list.count--;
		return NULL;
	}
	(*slot)->count = (*slot)->own = 0;
	return *slot;
}

static bool same(const struct mt_branch *a, const struct mt_branch *b)
{
	return a->from == b->from && a->to == b->to;
}

/* Whether `count` records are one that stands again and again, or two that take turns. */
static bool repeats(const struct mt_branch *records, size_t count)
{
	for (size_t period = 1; period <= PERIOD_MAX; period++) {
		size_t i = period;

		while (i < count && same(&records[i], &records[i - period]))
			i++;
		if (i == count)
			return true;
	}
	return false;
}

/*
 * Where in the thread's last stack the sample's outermost record stands; false where it is not
 * proven to.
 */
static bool find(const struct mt_stitcher *stitcher, const struct thread *last,
		 const struct mt_stitch_input *now, size_t *out)
{
	size_t depth = stitcher->depth, run = 0, at;

	if (!now->count || !last->own || stitcher->most_index >= depth)
		return false;
	at = (last->index + depth - (now->index + depth - now->count + 1) % depth) % depth;
	if (at >= last->own)
		return false;
	while (run < now->count && run <= at &&
	       same(&last->records[at - run], &now->branches[now->count - 1 - run]))
		run++;
	*out = at;
	return run >= RUN_LEAST && !repeats(last->records + at + 1 - run, run);
}

bool mt_stitcher_add(struct mt_stitcher *stitcher, const struct mt_stitch_input *input,
		     const struct mt_branch **out, size_t *count)
{
	struct thread *last = thread_of(stitcher, input->thread);
	size_t at, behind = 0;

	if (!last)
		return false;
	*count = 0;
	if (input->count > DEPTH_MAX)
		return true;
	if (input->count > stitcher->depth)
		stitcher->depth = input->count;
	if (input->index > stitcher->most_index)
		stitcher->most_index = input->index;
	if (find(stitcher, last, input, &at)) {
		behind = last->count - at - 1;
		if (behind > CALLERS_MAX - input->count)
			behind = CALLERS_MAX - input->count;
		memmove(last->records + input->count, last->records + at + 1,
			behind * sizeof(*last->records));
	}
	memcpy(last->records, input->branches, input->count * sizeof(*last->records));
	last->own = input->count;
	last->count = input->count + behind;
	last->index = input->index;
	*out = last->records + input->count;
	*count = behind;
	return true;
}
