/* Few places have more than one, and of those that have many the first ones tell enough. */
#include "unwind/rivals.h"

enum {
	RIVALS_MAX = 1 << 18,
	OF_PLACE_MAX = 16
};

void mt_rivals_deinit(struct mt_rivals *rivals)
{
	mt_map64_deinit(&rivals->places);
	mt_array_deinit(&rivals->all);
	*rivals = (struct mt_rivals){0};
}

const struct mt_rival *mt_rivals_first(const struct mt_rivals *rivals, uint64_t place)
{
	uint64_t i;

	return mt_map64_get(&rivals->places, place, &i) ? &rivals->all.items[i] : NULL;
}

const struct mt_rival *mt_rivals_next(const struct mt_rivals *rivals, const struct mt_rival *rival)
{
	return rival->next ? &rivals->all.items[rival->next - 1] : NULL;
}

bool mt_rivals_learn(struct mt_rivals *rivals, uint64_t place, uint32_t image, uint64_t vaddr)
{
	const struct mt_rival *last = NULL, *other = mt_rivals_first(rivals, place);
	size_t of_place = 0, at = 0;
	struct mt_rival *rival;

	for (; other; other = mt_rivals_next(rivals, other), of_place++) {
		if (other->image == image && other->vaddr == vaddr)
			return true;
		last = other;
	}
	if (of_place == OF_PLACE_MAX || rivals->all.count == RIVALS_MAX)
		return true;
	if (last)
		at = (size_t)(last - rivals->all.items); /* they may move */
	rival = mt_array_push(&rivals->all);
	if (!rival)
		return false;
	*rival = (struct mt_rival){.vaddr = vaddr, .image = image};
	if (last)
		rivals->all.items[at].next = (uint32_t)rivals->all.count;
	else if (!mt_map64_put(&rivals->places, place, rivals->all.count - 1))
		return false;
	return true;
}
