#include "unwind/join_donor.h"

#include <string.h>

#include "unwind/call_site.h"

void mt_join_frames_copy(const struct mt_join_donor *donor, size_t from, struct mt_join_place *out)
{
	const struct mt_join_stack *stack = donor->stack;
	const struct mt_join_place *rest;

	for (; stack && from < stack->count; from++)
		*out++ = mt_join_frame_of(stack, from);
	if (from == donor->count)
		return;
	rest = stack ? stack->tail->frames + (stack->tail_from + from - stack->count)
		     : donor->copy + from;
	memcpy(out, rest, (donor->count - from) * sizeof(*out));
	*out = mt_join_frame_at(donor, from);
}

bool mt_join_frames_are(const struct mt_join_donor *donor, size_t from,
			const struct mt_join_tail *tail)
{
	const struct mt_join_place *frame = tail->frames;

	if (tail->count != donor->count - from)
		return false;
	for (; from < donor->count; from++, frame++) {
		const struct mt_join_place place = mt_join_frame_at(donor, from);

		if (frame->pc != place.pc || frame->sp != place.sp)
			return false;
	}
	return true;
}

/* The first of [from, to) whose stack pointer is not below sp; these rise. */
static size_t first_above(const struct mt_join_donor *donor, size_t from, size_t to, uint64_t sp)
{
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (mt_join_frame_at(donor, middle).sp >= sp)
			to = middle;
		else
			from = middle + 1;
	}
	return to;
}

size_t mt_join_find_frame(const struct mt_join_donor *donor, uint64_t sp)
{
	uint64_t lowest = sp > donor->left ? sp : donor->left, above;
	size_t placed = donor->count, got, at;

	while (placed && !mt_join_frame_at(donor, placed - 1).sp)
		placed--;
	got = donor->stack && donor->stack->count < placed ? donor->stack->count : placed;
	above = got < placed ? mt_join_frame_at(donor, got).sp : UINT64_MAX;
	at = first_above(donor, got, placed, lowest);
	for (; at && at <= got; at--) {
		uint64_t here = mt_join_frame_at(donor, at - 1).sp;

		if (here < lowest || here > above)
			break;
		above = here;
	}
	return at < placed ? at : donor->count;
}

/* The first frame that a stack got, which stands where its own end. */
static bool is_first_got(const struct mt_join_donor *donor, uint64_t sp)
{
	const struct mt_join_stack *stack = donor->stack;

	return stack && stack->tail_count && stack->boundary == sp && donor->left <= sp &&
	       stack->sps[stack->count - 1] < sp;
}

size_t mt_join_find_place(const struct mt_join_donor *donor, uint64_t sp)
{
	size_t at = is_first_got(donor, sp) ? donor->stack->count : mt_join_find_frame(donor, sp);

	return at < donor->count && mt_join_frame_at(donor, at).sp == sp ? at : donor->count;
}

/* From frame i of a stack on, which was walked to there. */
static size_t descend_walked(const uint64_t *sps, uint64_t sp, size_t i)
{
	while (i && sps[i - 1] >= sp && sps[i - 1] <= sps[i])
		i--;
	return i;
}

bool mt_join_descend_to(const struct mt_join_donor *donor, uint64_t sp, size_t depth, size_t *at)
{
	size_t i = donor->count - 1 - depth, walked = donor->stack ? donor->stack->count : 0;
	uint64_t here, inner;

	if (depth < donor->count && mt_join_frame_at(donor, i).sp == sp &&
	    (!i || mt_join_frame_at(donor, i - 1).sp < sp)) {
		*at = i;
		return true;
	}
	for (i = *at; i == donor->count || !mt_join_frame_at(donor, i).sp; i--) {
		if (!i)
			return false;
	}
	if (i > walked && walked && mt_join_frame_at(donor, walked).sp >= sp)
		i = walked; /* those that it got rise */
	here = mt_join_frame_at(donor, i).sp;
	for (; i && i >= walked; i--, here = inner) {
		inner = mt_join_frame_at(donor, i - 1).sp;
		if (inner < sp || inner > here)
			break;
	}
	if (i < walked) {
		i = descend_walked(donor->stack->sps, sp, i);
		here = donor->stack->sps[i];
	}
	*at = i;
	return here == sp;
}

bool mt_join_inner_stands(const struct mt_join_donor *donor, size_t at)
{
	uint64_t sp = at ? mt_join_frame_at(donor, at - 1).sp : 0;

	return sp && sp >= donor->left && sp <= mt_join_frame_at(donor, at).sp;
}

uint64_t mt_join_call_in(const struct mt_join_check *check, const struct mt_join_donor *donor,
			 size_t at, const struct mt_image_map *map, uint64_t inner)
{
	struct mt_call_question question = {
		.map = map,
		.outer = mt_join_frame_at(donor, at).pc,
		.outer_calls = at,
		.known_inner =
			mt_join_inner_stands(donor, at) ? mt_join_frame_at(donor, at - 1).pc : 0,
		.inner = inner,
	};

	return check->site(check->context, &question);
}
