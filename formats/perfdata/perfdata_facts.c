/*
 * Collects the facts of a perf.data file: its events, their ids, the position of the id in records,
 * and facts from its header, features and records.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/memory.h"
#include "formats/perfdata/perfdata.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"

void mt_perf_facts_deinit(struct mt_perf_facts *facts)
{
	for (size_t i = 0; i < facts->events.count; i++) {
		free(facts->events.items[i].bytes);
		free(facts->events.items[i].name);
	}
	for (size_t i = 0; i < facts->info.count; i++) {
		free(facts->info.items[i].key);
		free(facts->info.items[i].value);
	}
	for (size_t i = 0; i < facts->images.count; i++)
		free(facts->images.items[i].path);
	for (size_t i = 0; i < facts->formats.count; i++) {
		free(facts->formats.items[i].name);
		free(facts->formats.items[i].text);
	}
	for (size_t i = 0; i < facts->pmus.count; i++)
		free(facts->pmus.items[i].name);
	for (size_t i = 0; i < facts->types.count; i++)
		free(facts->types.items[i].name);
	mt_array_deinit(&facts->events);
	mt_array_deinit(&facts->info);
	mt_array_deinit(&facts->images);
	mt_array_deinit(&facts->formats);
	mt_array_deinit(&facts->pmus);
	mt_array_deinit(&facts->types);
	mt_map64_deinit(&facts->event_of_id);
	free(facts->kernel_symbol);
}

bool mt_perf_facts_room(struct mt_perf_facts *facts, size_t size)
{
	if (size > MT_PERF_FACTS_MAX - facts->kept) {
		facts->limited = true;
		return false;
	}
	facts->kept += size;
	return true;
}

char *mt_perf_copy(const void *bytes, size_t size)
{
	char *copy = mt_alloc(size + 1, 1);

	return size ? memcpy(copy, bytes, size) : copy;
}

const char *mt_perf_string(struct mt_cursor *c)
{
	size_t size = mt_cursor_u32(c);
	const char *string = (const char *)mt_cursor_bytes(c, size);

	if (string && !memchr(string, 0, size))
		c->bad = true;
	return c->bad ? NULL : string;
}

/* Adds the kernel's build id from its mapping record, unless the image already has one. */
static void add_kernel_id(struct mt_perf_facts *facts, const char *path,
			  const struct mt_kernel_record *kernel)
{
	struct mt_perf_image *image;

	if (!kernel->build_id || !mt_perf_facts_room(facts, sizeof(*image) + strlen(path)))
		return;
	for (size_t i = 0; i < facts->images.count; i++) {
		if (!strcmp(facts->images.items[i].path, path))
			return;
	}
	image = mt_array_push(&facts->images);
	image->build_id_size = (uint8_t)kernel->build_id_size;
	memcpy(image->build_id, kernel->build_id, kernel->build_id_size);
	image->path = mt_copy_string(path);
}

void mt_perf_see_kernel(struct mt_perf_facts *facts, const uint8_t *record, size_t size)
{
	static const struct mt_attr untrailed; /* the fields after the name are not decoded */
	static const char path[] = "[kernel.kallsyms]";
	const size_t length = sizeof(path) - 1;
	struct mt_kernel_record kernel;

	if (facts->kernel_symbol || !mt_kernel_record_decode(&untrailed, record, size, &kernel) ||
	    (kernel.type != MT_KERNEL_MMAP && kernel.type != MT_KERNEL_MMAP2) ||
	    strncmp(kernel.name, path, length) != 0 || !kernel.name[length])
		return;
	add_kernel_id(facts, path, &kernel);
	facts->kernel_symbol = mt_format("%s %" PRIx64, kernel.name + length, kernel.offset);
}

/*
 * Offset in a sample of the field that `bit` selects, which must be one of the 8-byte fields at the
 * start of a sample. 0 if samples do not have it.
 */
static uint32_t fixed_at(uint64_t sample_type, uint64_t bit)
{
	/* in the order of the fields */
	static const uint32_t order[] = {MT_SAMPLE_IDENTIFIER, MT_SAMPLE_IP,   MT_SAMPLE_TID,
					 MT_SAMPLE_TIME,       MT_SAMPLE_ADDR, MT_SAMPLE_ID,
					 MT_SAMPLE_STREAM_ID};
	uint32_t at = MT_KERNEL_HEADER_SIZE;

	if (!(sample_type & bit))
		return 0;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order) && order[i] != bit; i++)
		at += sample_type & order[i] ? 8 : 0;
	return at;
}

/*
 * Distance from the end of a record that is not a sample, back to the field that `bit` selects. 0
 * if such records do not have it.
 */
static uint32_t trailer_at(const struct mt_attr *attr, uint64_t bit)
{
	static const uint32_t backwards[] = {MT_SAMPLE_IDENTIFIER, MT_SAMPLE_CPU,
					     MT_SAMPLE_STREAM_ID, MT_SAMPLE_ID, MT_SAMPLE_TIME};
	uint32_t at = 8;

	if (!mt_attr_has(attr, MT_ATTR_SAMPLE_ID_ALL) || !(attr->sample_type & bit))
		return 0;
	for (size_t i = 0; i < sizeof(backwards) / sizeof(*backwards) && backwards[i] != bit; i++)
		at += attr->sample_type & backwards[i] ? 8 : 0;
	return at;
}

static uint64_t id_bit(uint64_t sample_type)
{
	static const uint32_t best[] = {MT_SAMPLE_IDENTIFIER, MT_SAMPLE_ID, MT_SAMPLE_STREAM_ID};

	for (size_t i = 0; i < sizeof(best) / sizeof(*best); i++) {
		if (sample_type & best[i])
			return best[i];
	}
	return 0;
}

static void add_place(uint32_t *places, size_t *count, uint32_t place)
{
	for (size_t i = 0; i < *count; i++) {
		if (places[i] == place)
			return;
	}
	if (place && *count < MT_PERF_PLACES_MAX)
		places[(*count)++] = place;
}

static void find_places(struct mt_perf_facts *facts, struct mt_perf_event *event)
{
	uint64_t id = id_bit(event->attr.sample_type);

	event->sample_time_at = fixed_at(event->attr.sample_type, MT_SAMPLE_TIME);
	event->other_time_at = trailer_at(&event->attr, MT_SAMPLE_TIME);
	if (id) {
		event->sample_id_at = fixed_at(event->attr.sample_type, id);
		event->other_id_at = trailer_at(&event->attr, id);
	}
	add_place(facts->sample_places, &facts->sample_place_count, event->sample_id_at);
	add_place(facts->other_places, &facts->other_place_count, event->other_id_at);
}

static void add_ids(struct mt_perf_facts *facts, const uint8_t *ids, size_t count, size_t event)
{
	for (size_t i = 0; i < count; i++) {
		if (facts->event_of_id.count >= MT_PERF_IDS_MAX) {
			facts->limited = true;
			break;
		}
		mt_map64_put(&facts->event_of_id, mt_get_le64(ids + 8 * i), event);
	}
}

void mt_perf_add_event(struct mt_perf_facts *facts, const uint8_t *attr, size_t size,
		       const uint8_t *ids, size_t id_count)
{
	struct mt_perf_event *event;
	struct mt_attr decoded;

	if (!mt_attr_decode(attr, size, &decoded))
		return;
	if (facts->events.count >= MT_PERF_EVENTS_MAX || !mt_perf_facts_room(facts, size)) {
		facts->limited = true;
		return;
	}
	event = mt_array_push(&facts->events);
	event->attr = decoded;
	event->size = size;
	event->bytes = (uint8_t *)mt_perf_copy(attr, size);
	find_places(facts, event);
	add_ids(facts, ids, id_count, facts->events.count - 1);
}

void mt_perf_add_info(struct mt_perf_facts *facts, const char *key, const char *value)
{
	if (*value && mt_perf_facts_room(facts, sizeof(struct mt_perf_pair) + strlen(value)))
		(void)mt_array_append(&facts->info, (struct mt_perf_pair){mt_copy_string(key),
									  mt_copy_string(value)});
}

void mt_perf_add_number(struct mt_perf_facts *facts, bool pmu, uint64_t number, const char *name)
{
	mt_perf_numbers *numbers = pmu ? &facts->pmus : &facts->types;

	if (mt_perf_facts_room(facts, sizeof(*numbers->items) + strlen(name)))
		(void)mt_array_append(numbers,
				      (struct mt_perf_number){number, mt_copy_string(name)});
}

struct mt_perf_event *mt_perf_event_by_ids(struct mt_perf_facts *facts, const uint8_t *ids,
					   size_t id_count, size_t index)
{
	uint64_t found;

	for (size_t i = 0; i < id_count; i++) {
		if (mt_map64_get(&facts->event_of_id, mt_get_le64(ids + 8 * i), &found))
			return &facts->events.items[found];
	}
	return index < facts->events.count ? &facts->events.items[index] : NULL;
}

void mt_perf_set_name(struct mt_perf_facts *facts, struct mt_perf_event *event, const char *name)
{
	if (!*name || !mt_perf_facts_room(facts, strlen(name)))
		return;
	free(event->name);
	event->name = mt_copy_string(name);
}
