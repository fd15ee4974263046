/*
 * Parses the gauges of mappings, whose names are "smaps START-END NAME" (formats/FORMAT.md, 5.1).
 */
#include "report/residence/mapping_readings.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/records/record.h"

#define NEAR_NS 1000000000ull

static const char *const names[MT_MAPPING_SIZES] = {
	[MT_MAPPING_RESIDENT] = "Rss",
	[MT_MAPPING_DIRTY] = "Dirty",
	[MT_MAPPING_SWAPPED] = "Swap",
	[MT_MAPPING_HUGE] = "AnonHugePages",
};

void mt_mapping_readings_deinit(struct mt_mapping_readings *readings)
{
	mt_array_deinit(&readings->items);
}

static bool parse_name(const struct mt_text *name, struct mt_mapping_reading *out, int *size)
{
	MT_CLEANUP_FREE char *text = mt_copy_bytes(name->bytes, name->size);
	char *at;

	if (strncmp(text, "smaps ", 6) != 0)
		return false;
	out->start = strtoull(text + 6, &at, 16);
	if (*at != '-')
		return false;
	out->end = strtoull(at + 1, &at, 16);
	if (*at != ' ' || out->end <= out->start)
		return false;
	for (*size = 0; *size < MT_MAPPING_SIZES; ++*size) {
		if (!strcmp(at + 1, names[*size]))
			return true;
	}
	return false;
}

void mt_mapping_readings_take(struct mt_mapping_readings *readings, uint32_t recording,
			      const struct mt_gauge_record *gauge)
{
	struct mt_mapping_reading *last =
		readings->items.count ? &readings->items.items[readings->items.count - 1] : NULL;
	struct mt_mapping_reading taken = {.recording = recording};
	int size;

	if (!parse_name(&gauge->name, &taken, &size))
		return;
	if (!last || last->recording != recording || last->pid != gauge->pid ||
	    last->before != gauge->before || last->start != taken.start || last->end != taken.end) {
		taken.pid = gauge->pid;
		taken.before = gauge->before;
		taken.after = gauge->after;
		last = mt_array_push(&readings->items);
		*last = taken;
	}
	last->bytes[size] = (double)gauge->value;
}

/* The mappings of the reading that begins with mapping `from`. */
static struct mt_mapping_list list_from(const struct mt_mapping_readings *readings, size_t from)
{
	const struct mt_mapping_reading *first = &readings->items.items[from];
	size_t end = from + 1;

	for (; end < readings->items.count; end++) {
		const struct mt_mapping_reading *next = &readings->items.items[end];

		if (next->before != first->before || next->pid != first->pid ||
		    next->recording != first->recording || next->start < next[-1].end)
			break;
	}
	return (struct mt_mapping_list){first, end - from};
}

static uint64_t distance(const struct mt_mapping_reading *reading, uint64_t time)
{
	return time < reading->before  ? reading->before - time
	       : time > reading->after ? time - reading->after
				       : 0;
}

struct mt_mapping_list mt_mapping_readings_first(const struct mt_mapping_readings *readings,
						 uint32_t recording, int32_t pid)
{
	for (size_t i = 0; i < readings->items.count; i++) {
		const struct mt_mapping_reading *reading = &readings->items.items[i];

		if (reading->recording == recording && reading->pid == pid)
			return list_from(readings, i);
	}
	return (struct mt_mapping_list){0};
}

struct mt_mapping_list mt_mapping_readings_near(const struct mt_mapping_readings *readings,
						uint32_t recording, int32_t pid, uint64_t time)
{
	struct mt_mapping_list nearest = {0}, list;
	uint64_t least = NEAR_NS;

	for (size_t i = 0; i < readings->items.count; i += list.count) {
		list = list_from(readings, i);
		if (list.items->recording == recording && list.items->pid == pid &&
		    distance(list.items, time) < least) {
			least = distance(list.items, time);
			nearest = list;
		}
	}
	return nearest;
}

const struct mt_mapping_reading *mt_mapping_list_after(const struct mt_mapping_list *list,
						       uint64_t address)
{
	size_t below = mt_array_split(list->count, at, list->items[at].end <= address);

	return below < list->count ? &list->items[below] : NULL;
}
