/* A ring of calls, searched from the last one back. */
#include "report/ledger/overlaps.h"

#include <stdlib.h>

#include "report/ledger/extents.h"

enum {
	FIRST_CAPACITY = 32,   /* a power of two, as all */
	MOST_CALLS = 1u << 14, /* in flight at once at most; past them all is in doubt */
};

struct mt_overlaps {
	struct mt_timed_call *ring;
	size_t capacity;
	uint64_t first, count; /* numbers of those that are here: first <= number < count */
	uint64_t dropped;      /* the latest exit of those that are not here any more */
	uint64_t loose;	       /* of those whose place is not known */
	uint64_t latest;       /* of all */
	bool out_of_order;     /* they did not come in the order of their exits */
};

struct mt_overlaps *mt_overlaps_create(void)
{
	struct mt_overlaps *overlaps = calloc(1, sizeof(*overlaps));

	if (!overlaps)
		return NULL;
	overlaps->capacity = FIRST_CAPACITY;
	overlaps->ring = malloc(overlaps->capacity * sizeof(*overlaps->ring));
	if (!overlaps->ring) {
		free(overlaps);
		return NULL;
	}
	return overlaps;
}

void mt_overlaps_destroy(struct mt_overlaps *overlaps)
{
	if (!overlaps)
		return;
	free(overlaps->ring);
	free(overlaps);
}

static struct mt_timed_call *call_at(const struct mt_overlaps *overlaps, uint64_t number)
{
	return &overlaps->ring[number & (overlaps->capacity - 1)];
}

struct mt_timed_call mt_timed_call_of(const struct mt_vm_call *call, uint64_t brk, uint64_t shm)
{
	struct mt_timed_call timed = {.enter = call->enter, .exit = call->exit};
	uint64_t now = mt_page_up((uint64_t)call->result), before = mt_page_up(brk);
	bool failed = mt_vm_call_failed(call->result);

	timed.count = mt_vm_call_ranges(call, timed.ranges);
	if (call->kind == MT_VM_BRK && brk && now != before)
		timed.ranges[timed.count++] =
			(struct mt_range){before < now ? before : now, before < now ? now : before};
	if (call->kind == MT_VM_SHMDT && shm && !failed)
		timed.ranges[timed.count++] = (struct mt_range){call->args[0], call->args[0] + shm};
	timed.brk = call->kind == MT_VM_BRK;
	timed.whole = call->kind == MT_VM_BRK || call->kind == MT_VM_SHMDT ||
		      (call->kind == MT_VM_MREMAP &&
		       mt_page_up(call->args[2]) > mt_page_up(call->args[1])) ||
		      failed;
	if (call->kind == MT_VM_MREMAP && timed.count > 1) {
		timed.moved = timed.ranges[0];
		timed.to = failed ? call->args[4] : (uint64_t)call->result;
	}
	return timed;
}

/* ---- What is in doubt ---- */

static bool overlap(const struct mt_range *a, const struct mt_range *b, struct mt_range *out)
{
	out->start = a->start > b->start ? a->start : b->start;
	out->end = a->end < b->end ? a->end : b->end;
	return out->start < out->end;
}

static bool put(struct mt_extents *set, const struct mt_range *range)
{
	return mt_extents_remove(set, range->start, range->end, NULL) &&
	       mt_extents_insert(set, &(struct mt_extent){range->start, range->end, 0, 0, 0});
}

/* What two calls both address: all of one that depends on the other. */
static bool in_common(struct mt_extents *set, const struct mt_timed_call *a,
		      const struct mt_timed_call *b)
{
	struct mt_range range;
	bool any = false, good = true;

	for (size_t i = 0; i < a->count; i++) {
		for (size_t k = 0; good && k < b->count; k++) {
			if (!overlap(&a->ranges[i], &b->ranges[k], &range))
				continue;
			any = true;
			good = put(set, &range);
		}
	}
	/* Of two calls to brk the one that was last leaves the heap's end. */
	any |= a->whole && b->whole;
	for (size_t i = 0; good && any && a->whole && i < a->count; i++)
		good = put(set, &a->ranges[i]);
	for (size_t i = 0; good && any && b->whole && i < b->count; i++)
		good = put(set, &b->ranges[i]);
	return good;
}

/* What a call took elsewhere of what is in doubt is so there, too. */
static bool follow_move(struct mt_extents *set, const struct mt_timed_call *call)
{
	mt_extent_list pieces = {0};
	bool good = call->moved.start >= call->moved.end ||
		    mt_extents_list(set, call->moved.start, call->moved.end, &pieces);

	for (size_t i = 0; good && i < pieces.count; i++) {
		uint64_t by = call->to - call->moved.start;
		struct mt_range image = {pieces.items[i].start + by, pieces.items[i].end + by};

		good = image.start >= image.end || put(set, &image);
	}
	mt_array_deinit(&pieces);
	return good;
}

static bool follow_moves(const struct mt_overlaps *overlaps, struct mt_extents *set, uint64_t from,
			 const struct mt_timed_call *last)
{
	for (uint64_t i = from; i < overlaps->count; i++) {
		if (!follow_move(set, call_at(overlaps, i)))
			return false;
	}
	return !last || follow_move(set, last);
}

static bool tell(const struct mt_extents *set, const uint32_t origins[2],
		 const struct mt_overlap_sink *sink)
{
	const struct mt_extent *region = mt_extents_after(set, 0);

	for (; region; region = mt_extents_after(set, region->end)) {
		struct mt_range range = {region->start, region->end};

		if (!sink->doubt(sink->context, &range, origins))
			return false;
	}
	return true;
}

static bool compare(const struct mt_overlaps *overlaps, uint64_t number,
		    const struct mt_timed_call *call, const struct mt_overlap_sink *sink)
{
	const struct mt_timed_call *other = call_at(overlaps, number);
	const uint32_t origins[2] = {call->origin, other->origin};
	struct mt_extents *set = mt_extents_create();
	bool good = set && in_common(set, call, other);

	if (good && mt_extents_count(set))
		good = follow_moves(overlaps, set, number, call) && tell(set, origins, sink);
	mt_extents_destroy(set);
	return good;
}

/* A call so long that those it ran beside are forgotten. */
static bool doubt_all(const struct mt_overlaps *overlaps, const struct mt_timed_call *call,
		      const struct mt_overlap_sink *sink)
{
	const uint32_t origins[2] = {call->origin, call->origin};
	struct mt_extents *set = mt_extents_create();
	bool good = set;

	for (size_t i = 0; good && i < call->count; i++)
		good = put(set, &call->ranges[i]);
	good = good && follow_moves(overlaps, set, overlaps->first, call) &&
	       tell(set, origins, sink);
	mt_extents_destroy(set);
	return good;
}

/* ---- The ring ---- */

static bool widen(struct mt_overlaps *overlaps)
{
	size_t capacity = overlaps->capacity * 2;
	struct mt_timed_call *ring = malloc(capacity * sizeof(*ring));

	if (!ring)
		return false;
	for (uint64_t i = overlaps->first; i < overlaps->count; i++)
		ring[i & (capacity - 1)] = *call_at(overlaps, i);
	free(overlaps->ring);
	overlaps->ring = ring;
	overlaps->capacity = capacity;
	return true;
}

static bool keep(struct mt_overlaps *overlaps, const struct mt_timed_call *call)
{
	const struct mt_timed_call *lost;

	if (overlaps->count - overlaps->first == overlaps->capacity) {
		lost = call_at(overlaps, overlaps->first);
		/* One that others in flight may have run beside is not dropped if room can be made.
		 */
		if (lost->exit > call->enter && overlaps->capacity < MOST_CALLS) {
			if (!widen(overlaps))
				return false;
		} else {
			overlaps->first++;
			if (lost->exit > overlaps->dropped)
				overlaps->dropped = lost->exit;
		}
	}
	*call_at(overlaps, overlaps->count++) = *call;
	return true;
}

static bool compare_all(const struct mt_overlaps *overlaps, const struct mt_timed_call *call,
			const struct mt_overlap_sink *sink)
{
	/* Beside calls whose places are all known nothing is in doubt. */
	if (call->ordered && overlaps->loose <= call->enter)
		return true;
	for (uint64_t i = overlaps->count; i-- > overlaps->first;) {
		const struct mt_timed_call *other = call_at(overlaps, i);

		if (other->exit <= call->enter && !overlaps->out_of_order)
			break;
		if (other->tid != call->tid && other->exit > call->enter &&
		    other->enter < call->exit && !(call->ordered && other->ordered) &&
		    !compare(overlaps, i, call, sink))
			return false;
	}
	return call->ordered || overlaps->dropped <= call->enter || doubt_all(overlaps, call, sink);
}

bool mt_overlaps_add(struct mt_overlaps *overlaps, const struct mt_timed_call *call,
		     const struct mt_overlap_sink *sink)
{
	if (!call->count)
		return true;
	if (!compare_all(overlaps, call, sink) || !keep(overlaps, call))
		return false;
	overlaps->out_of_order |= call->exit < overlaps->latest;
	if (call->exit > overlaps->latest)
		overlaps->latest = call->exit;
	if (!call->ordered && call->exit > overlaps->loose)
		overlaps->loose = call->exit;
	return true;
}

bool mt_overlaps_since(const struct mt_overlaps *overlaps, uint64_t since, int32_t tid,
		       const struct mt_overlap_sink *sink)
{
	struct mt_extents *set = mt_extents_create();
	uint64_t first = overlaps->count;
	uint32_t origins[2] = {0, 0};
	bool good = set;

	for (uint64_t i = overlaps->count; good && i-- > overlaps->first;) {
		const struct mt_timed_call *call = call_at(overlaps, i);

		if (call->exit <= since && !overlaps->out_of_order)
			break;
		if (call->tid == tid || call->exit <= since)
			continue;
		first = i;
		origins[0] = origins[1] = call->origin;
		for (size_t k = 0; good && k < call->count; k++)
			good = put(set, &call->ranges[k]);
	}
	good = good && (!mt_extents_count(set) ||
			(follow_moves(overlaps, set, first, NULL) && tell(set, origins, sink)));
	mt_extents_destroy(set);
	return good;
}

struct mt_range mt_overlaps_brk(const struct mt_overlaps *overlaps, uint64_t since)
{
	struct mt_range all = {0, 0};

	for (uint64_t i = overlaps->first; i < overlaps->count; i++) {
		const struct mt_timed_call *call = call_at(overlaps, i);

		if (!call->brk || call->exit <= since)
			continue;
		if (all.start == all.end)
			all = call->ranges[0];
		if (call->ranges[0].start < all.start)
			all.start = call->ranges[0].start;
		if (call->ranges[0].end > all.end)
			all.end = call->ranges[0].end;
	}
	return all;
}
