/* A ring of the latest calls; each new call is compared with all of them. */
#include "report/account/overlaps.h"

#include <stdlib.h>

#include "formats/base/memory.h"

enum {
	CALLS_KEPT = 64, /* if more calls end during one call, all its ranges are doubtful */
};

#define PERIOD_NS 5000000000ull /* changes by calls of this period are kept as one range */

/* Calls of a period that have left the ring. */
struct dropped_calls {
	uint64_t began, exit;  /* latest exit before these calls, and of these calls */
	struct mt_range range; /* around all their changes except the heap */
	uint64_t brk_exit;     /* latest exit of brk calls */
	struct mt_range brk;   /* around all positions of the heap's end by brk calls */
};

struct mt_overlaps {
	struct mt_timed_call ring[CALLS_KEPT];
	uint64_t count; /* calls added so far */
	struct dropped_calls dropped, long_dropped;
	uint64_t loose; /* latest exit of calls whose order is unknown */
};

struct mt_overlaps *mt_overlaps_create(void)
{
	return mt_alloc(1, sizeof(struct mt_overlaps));
}

void mt_overlaps_destroy(struct mt_overlaps *overlaps)
{
	free(overlaps);
}

/* The number of the oldest call in the ring. */
static uint64_t oldest(const struct mt_overlaps *overlaps)
{
	return overlaps->count > CALLS_KEPT ? overlaps->count - CALLS_KEPT : 0;
}

static const struct mt_timed_call *call_at(const struct mt_overlaps *overlaps, uint64_t number)
{
	return &overlaps->ring[number % CALLS_KEPT];
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
	if (call->kind == MT_VM_MREMAP && timed.count > 1) {
		timed.moved = timed.ranges[0];
		timed.to = failed ? call->args[4] : (uint64_t)call->result;
	}
	return timed;
}

/* ---- Doubtful ranges ---- */

/* True if two calls changed the same addresses. Two brk calls always do: they move the same end. */
static bool meet(const struct mt_timed_call *a, const struct mt_timed_call *b)
{
	for (size_t i = 0; i < a->count; i++) {
		for (size_t k = 0; k < b->count; k++) {
			if (a->ranges[i].start < b->ranges[k].end &&
			    b->ranges[k].start < a->ranges[i].end)
				return true;
		}
	}
	return a->brk && b->brk;
}

static bool at_one_time(const struct mt_timed_call *a, const struct mt_timed_call *b)
{
	return a->tid != b->tid && a->exit > b->enter && b->exit > a->enter &&
	       !(a->ordered && b->ordered);
}

static void doubt_call(const struct mt_timed_call *call, const uint32_t origins[2],
		       const struct mt_overlap_sink *sink)
{
	for (size_t i = 0; i < call->count; i++)
		sink->doubt(sink->context, &call->ranges[i], origins);
}

static void follow_move(const struct mt_timed_call *call, const uint32_t origins[2],
			const struct mt_overlap_sink *sink)
{
	if (call->moved.start < call->moved.end)
		sink->moved(sink->context, &call->moved, call->to, origins);
}

/* Follows moves of doubtful ranges by all calls from number `from` on. */
static void follow_moves(const struct mt_overlaps *overlaps, uint64_t from,
			 const uint32_t origins[2], const struct mt_overlap_sink *sink)
{
	for (; from < overlaps->count; from++)
		follow_move(call_at(overlaps, from), origins, sink);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t latest_dropped(const struct mt_overlaps *overlaps)
{
	return later(overlaps->dropped.exit, overlaps->long_dropped.exit);
}

static void compare_all(const struct mt_overlaps *overlaps, const struct mt_timed_call *call,
			const struct mt_overlap_sink *sink)
{
	/* After a long call, the calls that ran at the same time may have left the ring. */
	bool whole = !call->ordered && latest_dropped(overlaps) > call->enter;
	uint64_t first = whole ? oldest(overlaps) : overlaps->count;
	uint32_t origins[2] = {call->origin, call->origin};

	for (uint64_t i = oldest(overlaps); i < overlaps->count; i++) {
		const struct mt_timed_call *other = call_at(overlaps, i);

		if (!at_one_time(other, call) || !meet(other, call))
			continue;
		first = first < i ? first : i;
		whole = true;
		origins[1] = other->origin;
		doubt_call(other, origins, sink);
	}
	if (whole) {
		doubt_call(call, origins, sink);
		follow_moves(overlaps, first, origins, sink);
		follow_move(call, origins, sink);
	}
}

/* ---- The ring ---- */

static void widen(struct mt_range *all, const struct mt_range *range)
{
	if (range->start >= range->end)
		return;
	if (all->start == all->end)
		*all = *range;
	if (range->start < all->start)
		all->start = range->start;
	if (range->end > all->end)
		all->end = range->end;
}

static void merge(struct dropped_calls *all, const struct dropped_calls *dropped)
{
	widen(&all->range, &dropped->range);
	widen(&all->brk, &dropped->brk);
	all->exit = later(all->exit, dropped->exit);
	all->brk_exit = later(all->brk_exit, dropped->brk_exit);
}

static void drop(struct mt_overlaps *overlaps, const struct mt_timed_call *call)
{
	struct dropped_calls its = {.exit = call->exit, .brk_exit = call->brk ? call->exit : 0};

	for (size_t i = 0; i < call->count; i++)
		widen(call->brk ? &its.brk : &its.range, &call->ranges[i]);
	if (call->exit > overlaps->dropped.began + PERIOD_NS) {
		merge(&overlaps->long_dropped, &overlaps->dropped);
		overlaps->dropped = (struct dropped_calls){.began = call->exit};
	}
	merge(&overlaps->dropped, &its);
}

void mt_overlaps_add(struct mt_overlaps *overlaps, const struct mt_timed_call *call,
		     const struct mt_overlap_sink *sink)
{
	struct mt_timed_call *slot = &overlaps->ring[overlaps->count % CALLS_KEPT];

	if (!call->count)
		return;
	/* If the order of all calls is known, nothing is doubtful. */
	if (!call->ordered || overlaps->loose > call->enter)
		compare_all(overlaps, call, sink);
	if (overlaps->count >= CALLS_KEPT)
		drop(overlaps, slot);
	*slot = *call;
	overlaps->count++;
	if (!call->ordered && call->exit > overlaps->loose)
		overlaps->loose = call->exit;
}

void mt_overlaps_since(const struct mt_overlaps *overlaps, uint64_t since, int32_t tid,
		       const struct mt_overlap_sink *sink)
{
	for (uint64_t i = oldest(overlaps); i < overlaps->count; i++) {
		const struct mt_timed_call *call = call_at(overlaps, i);
		const uint32_t origins[2] = {call->origin, call->origin};

		if (call->tid != tid && call->exit > since) {
			doubt_call(call, origins, sink);
			follow_moves(overlaps, i, origins, sink);
		}
	}
}

/* Widens a range by the changes of dropped calls, if any of them ended after `since`. */
static void widen_by(struct mt_range *all, const struct dropped_calls *dropped, uint64_t since)
{
	if (dropped->exit > since)
		widen(all, &dropped->range);
	if (dropped->brk_exit > since)
		widen(all, &dropped->brk);
}

struct mt_range mt_overlaps_forgotten(const struct mt_overlaps *overlaps, uint64_t since)
{
	struct mt_range all = {0, 0};

	widen_by(&all, &overlaps->dropped, since);
	widen_by(&all, &overlaps->long_dropped, since);
	return all;
}

void mt_overlaps_brk(const struct mt_overlaps *overlaps, uint64_t since, struct mt_range *all)
{
	if (overlaps->dropped.brk_exit > since)
		widen(all, &overlaps->dropped.brk);
	if (overlaps->long_dropped.brk_exit > since)
		widen(all, &overlaps->long_dropped.brk);
	for (uint64_t i = oldest(overlaps); i < overlaps->count; i++) {
		const struct mt_timed_call *call = call_at(overlaps, i);

		if (call->brk && call->exit > since)
			widen(all, &call->ranges[0]);
	}
}
