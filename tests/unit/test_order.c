/*
 * report/ledger/order: effects are delivered in the order of their places, each when it is
 * complete.
 */
#include "report/ledger/order.h"

#include "tests/unit/unit.h"

static uint64_t time_of_next(struct mt_order *order, uint64_t now, bool all)
{
	const struct mt_effect *effect = mt_order_next(order, now, 100, all);

	return effect ? effect->time : 0;
}

static void fill(struct mt_order *order, uint64_t place, bool ready)
{
	struct mt_effect *effect = mt_order_at(order, place);

	effect->kind = MT_EFFECT_CALL;
	effect->ready = ready;
}

MT_TEST(a_call_waits_for_the_one_that_had_the_lock_before)
{
	struct mt_order *order = mt_order_create(100);
	uint64_t first = mt_order_add(order, 10), second = mt_order_add(order, 20);

	mt_order_at(order, first)->of_a_call = true;
	fill(order, second, true);
	MT_CHECK_EQ(time_of_next(order, 1000, false), 0);
	fill(order, first, true);
	MT_CHECK_EQ(time_of_next(order, 1000, false), 10);
	MT_CHECK_EQ(time_of_next(order, 1000, false), 20);
	MT_CHECK(!mt_order_at(order, first));
	mt_order_destroy(order);
}

MT_TEST(a_lock_of_no_call_is_given_up_when_it_is_old)
{
	struct mt_order *order = mt_order_create(100);

	mt_order_add(order, 10);
	fill(order, mt_order_add(order, 20), true);
	MT_CHECK_EQ(time_of_next(order, 109, false), 0);
	MT_CHECK_EQ(time_of_next(order, 111, false), 20);
	mt_order_destroy(order);
}

MT_TEST(the_lock_of_a_fork_is_waited_for_longer)
{
	struct mt_order *order = mt_order_create(100);
	uint64_t first = mt_order_add(order, 10);

	mt_order_at(order, first)->of_a_fork = true;
	fill(order, mt_order_add(order, 20), true);
	MT_CHECK_EQ(time_of_next(order, 5009, false), 0);
	MT_CHECK_EQ(time_of_next(order, 5011, false), 20);
	mt_order_destroy(order);
}

MT_TEST(a_call_that_waits_for_its_stack_is_never_given_up)
{
	struct mt_order *order = mt_order_create(1);
	uint64_t place = mt_order_add(order, 10);

	fill(order, place, false);
	for (int i = 0; i < 3000; i++)
		fill(order, mt_order_add(order, 20), true);
	MT_CHECK_EQ(time_of_next(order, 1000, true), 0);
	fill(order, place, true);
	MT_CHECK_EQ(time_of_next(order, 1000, false), 10);
	MT_CHECK_EQ(time_of_next(order, 1000, false), 20);
	mt_order_destroy(order);
}

MT_TEST(where_too_many_wait_the_oldest_is_given_up)
{
	struct mt_order *order = mt_order_create(2);

	mt_order_at(order, mt_order_add(order, 10))->of_a_call = true;
	fill(order, mt_order_add(order, 20), true);
	MT_CHECK_EQ(time_of_next(order, 30, false), 0);
	fill(order, mt_order_add(order, 30), true);
	MT_CHECK_EQ(time_of_next(order, 30, false), 20);
	mt_order_destroy(order);
}

MT_TEST_MAIN
