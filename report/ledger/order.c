/* A queue in a growing ring buffer; places are never reused. */
#include "report/ledger/order.h"

#include <stdlib.h>

#include "formats/base/memory.h"

enum {
	FIRST_CAPACITY = 1024, /* a power of two */
	FORKS_PATIENCE = 50,   /* a place of a fork has this many times the patience */
};

struct mt_order {
	struct mt_effect *ring;
	size_t capacity, most;
	uint64_t front, back; /* places in use: front <= place < back */
};

struct mt_order *mt_order_create(size_t most)
{
	struct mt_order *order = mt_alloc(1, sizeof(*order));

	order->most = most;
	order->capacity = FIRST_CAPACITY;
	order->ring = mt_resize(NULL, order->capacity, sizeof(*order->ring));
	return order;
}

void mt_order_destroy(struct mt_order *order)
{
	if (!order)
		return;
	free(order->ring);
	free(order);
}

static struct mt_effect *slot(const struct mt_order *order, uint64_t place)
{
	return &order->ring[place & (order->capacity - 1)];
}

static void widen(struct mt_order *order)
{
	size_t capacity = order->capacity * 2;
	struct mt_effect *ring = mt_resize(NULL, capacity, sizeof(*ring));

	for (uint64_t place = order->front; place < order->back; place++)
		ring[place & (capacity - 1)] = *slot(order, place);
	free(order->ring);
	order->ring = ring;
	order->capacity = capacity;
}

uint64_t mt_order_add(struct mt_order *order, uint64_t time)
{
	if (order->back - order->front == order->capacity)
		widen(order);
	*slot(order, order->back) = (struct mt_effect){.time = time};
	return order->back++;
}

struct mt_effect *mt_order_at(struct mt_order *order, uint64_t place)
{
	return place >= order->front && place < order->back ? slot(order, place) : NULL;
}

const struct mt_effect *mt_order_next(struct mt_order *order, uint64_t now, uint64_t patience,
				      bool all)
{
	while (order->front < order->back) {
		struct mt_effect *first = slot(order, order->front);
		bool full = order->back - order->front > order->most;
		uint64_t wait = first->of_a_fork ? FORKS_PATIENCE * patience : patience;
		bool late = !first->of_a_call && first->time + wait < now;

		bool waits = first->kind == MT_EFFECT_CALL || first->kind == MT_EFFECT_TOUCH;

		if (!first->ready && (waits || (!all && !full && !late)))
			return NULL;
		order->front++;
		if (first->ready && first->kind != MT_EFFECT_NOTHING)
			return first;
	}
	return NULL;
}
