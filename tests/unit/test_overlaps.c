/*
 * report/account/overlaps: pages that are in doubt after calls of different threads ran at the same
 * time and their order is not known.
 */
#include "report/account/overlaps.h"

#include "tests/unit/unit.h"

#define PAGE 4096ull

/* The pages in doubt among the first 64. */
struct doubts {
	uint64_t pages;
};

static void note(void *context, const struct mt_range *range, const uint32_t origins[2])
{
	struct doubts *doubts = context;

	(void)origins;
	for (uint64_t at = range->start; at < range->end; at += PAGE)
		doubts->pages |= 1ull << at / PAGE;
}

static void note_moved(void *context, const struct mt_range *range, uint64_t to,
		       const uint32_t origins[2])
{
	struct doubts *doubts = context;
	uint64_t before = doubts->pages;

	(void)origins;
	for (uint64_t at = range->start; at < range->end; at += PAGE)
		doubts->pages |= (before >> at / PAGE & 1) << (to + at - range->start) / PAGE;
}

static uint64_t pages(unsigned from, unsigned count)
{
	return (count < 64 ? (1ull << count) - 1 : ~0ull) << from;
}

/* munmap of pages by a thread, from `enter` to `exit`. */
static struct mt_timed_call unmapped(int32_t tid, uint64_t enter, uint64_t exit, unsigned from,
				     unsigned count)
{
	const struct mt_vm_call call = {.kind = MT_VM_MUNMAP,
					.args = {from * PAGE, count * PAGE},
					.enter = enter,
					.exit = exit};
	struct mt_timed_call timed = mt_timed_call_of(&call, 0, 0);

	timed.tid = tid;
	return timed;
}

static struct mt_timed_call moved(int32_t tid, uint64_t enter, uint64_t exit, unsigned from,
				  unsigned to, unsigned count)
{
	const struct mt_vm_call call = {.kind = MT_VM_MREMAP,
					.args = {from * PAGE, count * PAGE, count * PAGE, 3,
						 to * PAGE},
					.result = (int64_t)(to * PAGE),
					.enter = enter,
					.exit = exit};
	struct mt_timed_call timed = mt_timed_call_of(&call, 0, 0);

	timed.tid = tid;
	return timed;
}

static uint64_t added(struct mt_overlaps *overlaps, struct mt_timed_call call)
{
	struct doubts doubts = {0};
	const struct mt_overlap_sink sink = {note, note_moved, &doubts};

	mt_overlaps_add(overlaps, &call, &sink);
	return doubts.pages;
}

MT_TEST(all_that_both_changed_is_in_doubt)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();

	MT_CHECK_EQ(added(overlaps, unmapped(1, 10, 20, 0, 8)), 0);
	MT_CHECK_EQ(added(overlaps, unmapped(2, 15, 25, 4, 8)), pages(0, 12));
	mt_overlaps_destroy(overlaps);
}

MT_TEST(calls_apart_from_each_other_leave_nothing)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();

	added(overlaps, unmapped(1, 10, 20, 0, 8));
	MT_CHECK_EQ(added(overlaps, unmapped(2, 15, 25, 8, 8)), 0);
	mt_overlaps_destroy(overlaps);
}

MT_TEST(one_after_the_other_nothing_is)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();

	added(overlaps, unmapped(1, 10, 20, 0, 8));
	MT_CHECK_EQ(added(overlaps, unmapped(2, 20, 25, 0, 8)), 0);
	MT_CHECK_EQ(added(overlaps, unmapped(2, 25, 40, 0, 8)), 0);
	mt_overlaps_destroy(overlaps);
}

MT_TEST(calls_with_a_place_are_sure_of_each_other)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();
	struct mt_timed_call call = unmapped(1, 10, 20, 0, 8);

	call.ordered = true;
	added(overlaps, call);
	call.tid = 2;
	MT_CHECK_EQ(added(overlaps, call), 0);
	call.tid = 3;
	call.ordered = false;
	MT_CHECK_EQ(added(overlaps, call), pages(0, 8));
	mt_overlaps_destroy(overlaps);
}

MT_TEST(a_move_takes_doubt_along)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();

	added(overlaps, moved(1, 10, 20, 0, 16, 8));
	added(overlaps, moved(1, 21, 22, 16, 32, 8));
	/*
	 * It begins before both moves and ends last, so it may have unmapped its pages at any of
	 * the places.
	 */
	MT_CHECK_EQ(added(overlaps, unmapped(2, 5, 25, 2, 3)),
		    pages(0, 8) | pages(16, 8) | pages(32, 8));
	mt_overlaps_destroy(overlaps);
}

MT_TEST(a_call_that_fails_at_a_hole_depends_on_all_of_its_range)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();
	const struct mt_vm_call call = {.kind = MT_VM_MPROTECT,
					.args = {0, 16 * PAGE, 1},
					.result = -12, /* ENOMEM */
					.enter = 10,
					.exit = 30};
	struct mt_timed_call protects = mt_timed_call_of(&call, 0, 0);

	protects.tid = 1;
	added(overlaps, unmapped(2, 15, 25, 2, 1));
	MT_CHECK_EQ(added(overlaps, protects), pages(0, 16));
	mt_overlaps_destroy(overlaps);
}

MT_TEST(what_was_refused_at_once_leaves_nothing)
{
	struct mt_vm_call call = {.kind = MT_VM_MUNMAP, .args = {0, PAGE}, .result = -22};

	MT_CHECK_EQ(mt_timed_call_of(&call, 0, 0).count, 0);
	call.kind = MT_VM_MADVISE; /* MADV_DONTNEED */
	call.result = 0;
	call.args[2] = 4;
	MT_CHECK_EQ(mt_timed_call_of(&call, 0, 0).count, 0);
}

MT_TEST(a_call_longer_than_memory_is_in_doubt_as_a_whole)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();

	for (uint64_t i = 0; i < 1000; i++)
		added(overlaps, unmapped(1, 10 * i + 10, 10 * i + 15, 40, 1));
	MT_CHECK_EQ(added(overlaps, unmapped(2, 5, 20000, 8, 4)), pages(8, 4));
	mt_overlaps_destroy(overlaps);
}

MT_TEST(a_fork_may_have_missed_what_others_did_since)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();
	struct doubts doubts = {0};
	const struct mt_overlap_sink sink = {note, note_moved, &doubts};

	added(overlaps, unmapped(1, 10, 20, 0, 2));
	added(overlaps, unmapped(2, 30, 40, 4, 2));
	added(overlaps, unmapped(1, 45, 50, 8, 2)); /* the thread that forks */
	mt_overlaps_since(overlaps, 25, 1, &sink);
	MT_CHECK_EQ(doubts.pages, pages(4, 2));
	mt_overlaps_destroy(overlaps);
}

/* A brk call of a thread that moves the heap's end from one page to another. */
static struct mt_timed_call heap_moved(uint64_t exit, unsigned from, unsigned to)
{
	const struct mt_vm_call call = {.kind = MT_VM_BRK,
					.args = {to * PAGE},
					.result = (int64_t)(to * PAGE),
					.enter = exit - 5,
					.exit = exit};
	struct mt_timed_call timed = mt_timed_call_of(&call, from * PAGE, 0);

	timed.tid = 1;
	timed.ordered = true;
	return timed;
}

static void add_many(struct mt_overlaps *overlaps, uint64_t time)
{
	for (uint64_t i = 0; i < 100; i++)
		added(overlaps, unmapped(1, time + 10 * i, time + 10 * i + 5, 40, 1));
}

MT_TEST(where_the_heap_ended_is_remembered_after_any_number_of_calls)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();
	struct mt_range brk = {0, 0};

	added(overlaps, heap_moved(20, 4, 8));
	added(overlaps, heap_moved(40, 8, 6));
	add_many(overlaps, 100);
	mt_overlaps_brk(overlaps, 40, &brk);
	MT_CHECK_EQ(brk.end, 0);
	mt_overlaps_brk(overlaps, 30, &brk);
	MT_CHECK_EQ(brk.start, 4 * PAGE);
	MT_CHECK_EQ(brk.end, 8 * PAGE);
	mt_overlaps_destroy(overlaps);
}

MT_TEST(what_is_long_ago_does_not_widen_what_is_not)
{
	const uint64_t second = 1000000000;
	struct mt_overlaps *overlaps = mt_overlaps_create();
	struct mt_range brk = {0, 0};

	added(overlaps, heap_moved(1 * second, 10, 50));
	add_many(overlaps, 2 * second);
	added(overlaps, heap_moved(20 * second, 50, 52));
	add_many(overlaps, 21 * second);
	mt_overlaps_brk(overlaps, 19 * second, &brk);
	MT_CHECK_EQ(brk.start, 50 * PAGE);
	MT_CHECK_EQ(brk.end, 52 * PAGE);
	mt_overlaps_brk(overlaps, 0, &brk);
	MT_CHECK_EQ(brk.start, 10 * PAGE);
	mt_overlaps_destroy(overlaps);
}

MT_TEST(what_calls_changed_that_are_not_kept_is_known_as_a_whole)
{
	struct mt_overlaps *overlaps = mt_overlaps_create();

	added(overlaps, unmapped(1, 10, 20, 0, 2));
	added(overlaps, unmapped(1, 30, 40, 8, 2));
	MT_CHECK_EQ(mt_overlaps_forgotten(overlaps, 0).end, 0);
	add_many(overlaps, 100);
	MT_CHECK_EQ(mt_overlaps_forgotten(overlaps, 2000).end, 0);
	MT_CHECK_EQ(mt_overlaps_forgotten(overlaps, 30).start, 0);
	MT_CHECK_EQ(mt_overlaps_forgotten(overlaps, 30).end, 41 * PAGE);
	mt_overlaps_destroy(overlaps);
}

MT_TEST_MAIN
