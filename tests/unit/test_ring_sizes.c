/* record/rings/ring_sizes: ring sizes by the events of a plan. */
#include "record/rings/ring_sizes.h"

#include "record/plan/plan.h"
#include "tests/unit/unit.h"

#define MIB ((size_t)1 << 20)

/*
 * The ring size of a class that has one event with those dumps, in a plan with a side-band event.
 */
static size_t size_of(enum mt_event_class class, enum mt_event_role role, uint32_t dump)
{
	struct mt_planned_event events[] = {
		{.class = MT_CLASS_RARE},
		{.class = class, .role = role, .attr.sample_stack_user = dump},
	};
	struct mt_plan plan = {.events = {.items = events, .count = 2}};

	return mt_ring_size(&plan, class);
}

MT_TEST(storms_have_room_by_their_dumps)
{
	MT_CHECK_EQ(size_of(MT_CLASS_STORM, MT_ROLE_SAMPLE, 65528), 16 * MIB);
	MT_CHECK_EQ(size_of(MT_CLASS_STORM, MT_ROLE_SAMPLE, 16384), 16 * MIB);
	MT_CHECK_EQ(size_of(MT_CLASS_STORM, MT_ROLE_SAMPLE, 8192), 8 * MIB);
	MT_CHECK_EQ(size_of(MT_CLASS_STORM, MT_ROLE_SAMPLE, 0), 8 * MIB);
}

MT_TEST(seeds_do_not_count)
{
	MT_CHECK_EQ(size_of(MT_CLASS_STORM, MT_ROLE_SEED, 65528), 8 * MIB);
}

MT_TEST(rare_events_have_more_where_they_have_dumps)
{
	MT_CHECK_EQ(size_of(MT_CLASS_RARE, MT_ROLE_SAMPLE, 65528), 16 * MIB);
	MT_CHECK_EQ(size_of(MT_CLASS_RARE, MT_ROLE_SAMPLE, 0), 1 * MIB);
}

/* Page faults and calls, both with dumps, alongside the side-band. */
MT_TEST(where_there_are_many_cpus_or_little_memory_rings_are_smaller)
{
	struct mt_planned_event events[] = {
		{.class = MT_CLASS_RARE, .attr.sample_stack_user = 65528},
		{.class = MT_CLASS_STORM, .attr.sample_stack_user = 16384},
	};
	struct mt_plan plan = {.events = {.items = events, .count = 2}};
	static const struct {
		size_t cpus;
		uint64_t memory;
		size_t size;
	} cases[] = {
		{1, 8192 * MIB, 16 * MIB},
		{2, 8192 * MIB, 16 * MIB},
		{2, 2048 * MIB, 16 * MIB},
		{2, 2047 * MIB, 8 * MIB},
		{16, 65536 * MIB, 16 * MIB},
		{64, 1048576 * MIB, 8 * MIB},
		{1024, 1048576 * MIB, MIB / 2},
		{4096, 1048576 * MIB, MIB / 4},
		{1, 0, MIB / 4},
	};

	MT_CHECK_EQ(mt_rings_bytes(&plan, 2 * MIB), 4 * MIB + 8192);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		MT_CHECK_EQ(mt_rings_size_for(&plan, cases[i].cpus, cases[i].memory),
			    cases[i].size);
}

MT_TEST_MAIN
