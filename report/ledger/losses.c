/* Spans sorted by start, each with the latest end so far, for binary search. */
#include "report/ledger/losses.h"

void mt_losses_add(struct mt_losses *losses, uint64_t from, uint64_t to)
{
	mt_array_append(&losses->spans, (struct mt_loss_span){from, to, to});
	losses->sorted = false;
}

void mt_losses_deinit(struct mt_losses *losses)
{
	mt_array_deinit(&losses->spans);
}

static int compare(const void *a, const void *b)
{
	const struct mt_loss_span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void sort(struct mt_losses *losses)
{
	struct mt_loss_span *spans = losses->spans.items;

	if (losses->spans.count)
		qsort(spans, losses->spans.count, sizeof(*spans), compare);
	for (size_t i = 1; i < losses->spans.count; i++) {
		if (spans[i - 1].latest > spans[i].latest)
			spans[i].latest = spans[i - 1].latest;
	}
	losses->sorted = true;
}

bool mt_losses_between(struct mt_losses *losses, uint64_t from, uint64_t to)
{
	size_t before;

	if (!losses->spans.count)
		return false;
	if (!losses->sorted)
		sort(losses);
	before = mt_array_split(losses->spans.count, at, losses->spans.items[at].from < to);
	return before && losses->spans.items[before - 1].latest > from;
}
