/* Keeps a short stack of slots for each thread. */
#include "unwind/return_slots.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"

struct thread {
	struct mt_return_slot items[MT_RETURN_SLOTS]; /* outermost first */
	size_t count;
};

struct mt_return_slots {
	struct mt_map64 by_tid; /* index in threads */
	MT_ARRAY(struct thread) threads;
};

struct mt_return_slots *mt_return_slots_create(void)
{
	return mt_alloc(1, sizeof(struct mt_return_slots));
}

void mt_return_slots_destroy(struct mt_return_slots *slots)
{
	if (!slots)
		return;
	mt_map64_deinit(&slots->by_tid);
	mt_array_deinit(&slots->threads);
	free(slots);
}

void mt_return_slots_clear(struct mt_return_slots *slots)
{
	for (size_t i = 0; i < slots->threads.count; i++)
		slots->threads.items[i].count = 0;
}

void mt_return_slots_enter(struct mt_return_slots *slots, int32_t tid,
			   const struct mt_return_slot *entered)
{
	struct thread *thread = mt_map64_element(&slots->by_tid, &slots->threads, (uint32_t)tid);

	while (thread->count && thread->items[thread->count - 1].slot < entered->slot)
		thread->count--;
	if (thread->count && thread->items[thread->count - 1].slot == entered->slot) {
		/* after a jump between probed functions, only the first entry has the address */
		if (mt_may_be_trampoline(entered->address))
			return;
		thread->count--;
	}
	if (thread->count == MT_RETURN_SLOTS) {
		memmove(thread->items, thread->items + 1,
			(MT_RETURN_SLOTS - 1) * sizeof(*thread->items));
		thread->count--;
	}
	thread->items[thread->count++] = *entered;
}

const struct mt_return_slot *mt_return_slots_get(const struct mt_return_slots *slots, int32_t tid,
						 size_t *count)
{
	uint64_t index;

	*count = 0;
	if (!mt_map64_get(&slots->by_tid, (uint32_t)tid, &index))
		return NULL;
	*count = slots->threads.items[index].count;
	return slots->threads.items[index].items;
}
