/* Items in an array; when half of them are removed, the others move up. */
#include "report/blocks/block_queue.h"

#include <string.h>

enum {
	GAP = 1024, /* removed items before the others move up */
};

void mt_block_queue_deinit(struct mt_block_queue *queue)
{
	mt_array_deinit(&queue->items);
	queue->from = 0;
}

struct mt_queued *mt_block_queue_add(struct mt_block_queue *queue)
{
	struct mt_queued *items = queue->items.items;
	size_t left = queue->items.count - queue->from;

	if (queue->from && (!left || (queue->from > GAP && queue->from > left))) {
		memmove(items, items + queue->from, left * sizeof(*items));
		queue->items.count = left;
		queue->from = 0;
	}
	return mt_array_push(&queue->items);
}

struct mt_queued *mt_block_queue_first(struct mt_block_queue *queue)
{
	return queue->from < queue->items.count ? &queue->items.items[queue->from] : NULL;
}

void mt_block_queue_drop(struct mt_block_queue *queue)
{
	queue->from++;
}
