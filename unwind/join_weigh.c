#include "unwind/join_weigh.h"

#include "formats/base/tail.h"
#include "unwind/join_claim.h"
#include "unwind/join_donor.h"

enum {
	PASSED = 4 /* one in so many stacks that need not be looked at is */
};

static bool same_frame(struct mt_join_place a, struct mt_join_place b)
{
	return a.pc == b.pc && (a.sp == b.sp || !a.sp || !b.sp);
}

/* What is taken to have stood so far, and what a stack shows. */
struct weighing {
	const struct mt_join_donor *before, *now;
	size_t before_at, now_at;
	size_t common; /* of outermost frames: so many are known to be the same */
	bool differ;   /* the one behind them is not */
};

static size_t lower(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Counts what is common of so many frames, where both stacks were walked to the end. */
static void count_common(struct weighing *weighing, size_t wanted)
{
	const struct mt_join_stack *a = weighing->before->stack, *b = weighing->now->stack;
	size_t had = weighing->common, more;

	if (had >= wanted || weighing->differ || !a || a->tail_count || b->tail_count)
		return;
	wanted = lower(wanted, lower(a->count, b->count));
	more = mt_tail_common(a->pcs + a->count - had, b->pcs + b->count - had, wanted - had);
	more = mt_tail_common(a->sps + a->count - had, b->sps + b->count - had, more);
	weighing->common = had + more;
}

/* Whether all frames further out than those looked at are the same. */
static bool same_beyond(struct weighing *weighing)
{
	const struct mt_join_donor *before = weighing->before, *now = weighing->now;
	size_t beyond = now->count - 1 - weighing->now_at, *common = &weighing->common;

	if (before->count - 1 - weighing->before_at != beyond)
		return false;
	while (*common < beyond && !weighing->differ) {
		weighing->differ =
			!same_frame(mt_join_frame_at(before, before->count - 1 - *common),
				    mt_join_frame_at(now, now->count - 1 - *common));
		*common += !weighing->differ;
	}
	return *common >= beyond;
}

/* Where in that frame a stack that is cut at the spot would go on; 0: it would not. */
static uint64_t site_in(const struct mt_join_check *check, const struct mt_join_donor *donor,
			size_t at, const struct mt_image_map *map, struct mt_join_spot *spot)
{
	uint64_t pc = mt_join_frame_at(donor, at).pc,
		 inner = at ? mt_join_frame_at(donor, at - 1).pc : 0;
	struct mt_join_call *call = mt_join_spot_call(spot, pc, inner);
	uint64_t site;

	if (spot->site.outer)
		return pc == spot->site.outer ? pc : 0;
	if (call->site && call->pc == pc && call->inner == inner)
		return call->site;
	site = mt_join_call_in(check, donor, at, map, spot->site.inner);
	*call = (struct mt_join_call){pc, inner, site};
	return site;
}

/*
 * Whether to look: a claim is open, or the stack shows what one would have claimed; of others,
 * which say how often frames there change at all, one in a few does.
 */
static bool is_worth(struct mt_join_spot *spot, const struct mt_join_donor *now)
{
	size_t at = now->count - 1 - spot->depth;

	if (spot->open || !spot->passed++)
		return true;
	spot->passed %= PASSED;
	return spot->depth < now->count && at &&
	       mt_join_frame_at(now, at - 1).pc == spot->site.inner &&
	       mt_join_frame_at(now, at).sp == spot->site.boundary;
}

/* Whether they are calls in the same functions at least. */
static bool alike_beyond(const struct mt_join_check *check, const struct weighing *weighing)
{
	const struct mt_join_donor *before = weighing->before, *now = weighing->now;
	size_t beyond = now->count - 1 - weighing->now_at;

	if (before->count - 1 - weighing->before_at != beyond)
		return false;
	for (size_t i = weighing->common; i < beyond; i++) {
		struct mt_join_place a = mt_join_frame_at(before, before->count - 1 - i);
		struct mt_join_place b = mt_join_frame_at(now, now->count - 1 - i);

		if (a.sp != b.sp || !mt_join_same_function(check, now->stack->map, a.pc, b.pc))
			return false;
	}
	return true;
}

static enum mt_join_verdict verdict_of(const struct mt_join_check *check, struct weighing *weighing,
				       uint64_t was, uint64_t is)
{
	if (!mt_join_same_function(check, weighing->now->stack->map, was, is))
		return MT_JOIN_REFUTED;
	if (same_beyond(weighing))
		return MT_JOIN_CONFIRMED;
	return alike_beyond(check, weighing) ? MT_JOIN_ALIKE : MT_JOIN_REFUTED;
}

/* Whether both have the frame at the spot, which was found in one, and the one that it called. */
static bool is_common(struct weighing *w, const struct mt_join_spot *spot)
{
	if (spot->depth + 2 > w->common ||
	    mt_join_frame_at(w->now, w->now_at - 1).sp >= spot->site.boundary)
		return false;
	w->before_at = w->before->count - 1 - spot->depth;
	return true;
}

static void weigh_spot(const struct mt_join_check *check, struct weighing *w,
		       struct mt_join_spot *spot)
{
	const struct mt_image_map *map = w->now->stack->map;
	uint64_t sp = spot->site.boundary, was = 0, is;

	count_common(w, spot->depth + 2);
	if (mt_join_descend_to(w->now, sp, spot->depth, &w->now_at)) {
		spot->depth = w->now->count - 1 - w->now_at;
		if (is_common(w, spot)) {
			was = site_in(check, w->now, w->now_at, map, spot);
			if (was)
				mt_join_spot_judge(spot, MT_JOIN_CONFIRMED);
			else
				mt_join_spot_close(spot);
			return;
		}
		is = mt_join_descend_to(w->before, sp, spot->depth, &w->before_at)
			     ? site_in(check, w->now, w->now_at, map, spot)
			     : 0;
		was = is ? site_in(check, w->before, w->before_at, map, spot) : 0;
	}
	if (was)
		mt_join_spot_judge(spot, verdict_of(check, w, was, is));
	else
		mt_join_spot_close(spot);
}

void mt_join_weigh(const struct mt_join_check *check, const struct mt_join_spots *spots,
		   const struct mt_join_donor *before, const struct mt_join_stack *stack,
		   uint64_t end)
{
	const struct mt_join_donor now = mt_join_donor_of_stack(stack, 0);
	struct weighing weighing = {before, &now, before->count, now.count, stack->tail_count,
				    false};

	for (size_t i = 0; before->count && i < spots->count; i++) {
		struct mt_join_spot *spot = spots->items[i];

		if (spot->site.boundary < before->left)
			break;
		if (spot->site.boundary < end && is_worth(spot, &now))
			weigh_spot(check, &weighing, spot);
	}
}
