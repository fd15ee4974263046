/* Converts the facts of a perf.data file to STATE records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/memory.h"
#include "formats/perfdata/perfdata.h"
#include "formats/records/events.h"
#include "formats/records/sample_type.h"

enum {
	FIRST_SIZE = 64 << 10,
	NAME_SIZE = 512,
	TYPE_SOFTWARE = 1,
	SOFTWARE_DUMMY = 9,
	TYPE_TRACEPOINT = 2,
	NOTE_WARNING = 1,
};

/* Doubles the block; false if it has the maximum size. */
static bool grow(struct mt_block *block)
{
	size_t capacity = block->capacity ? 2 * block->capacity : FIRST_SIZE;

	if (capacity > MT_CHUNK_RAW_MAX)
		return false;
	block->bytes = mt_resize(block->bytes, capacity, 1);
	block->capacity = capacity;
	return true;
}

/* Calls mt_NAME_put() with larger blocks until the record fits; past the maximum, leaves it out. */
#define PUT(name, block, record)                                           \
	do {                                                               \
		while (!mt_##name##_put((block), (record)) && grow(block)) \
			;                                                  \
	} while (0)

static struct mt_text text_of(const char *string)
{
	return (struct mt_text){string, strlen(string)};
}

static void put_info(const char *key, const char *value, struct mt_block *block)
{
	struct mt_info_record record = {.key = text_of(key), .value = text_of(value)};

	PUT(info, block, &record);
}

/* Puts the kernel's build id and then its load address, which identify the kernel's addresses. */
static void put_kernel(const struct mt_perf_facts *facts, struct mt_block *block)
{
	for (size_t i = 0; i < facts->images.count; i++) {
		const struct mt_perf_image *image = &facts->images.items[i];
		char hex[2 * sizeof(image->build_id) + 1] = "";

		if (strcmp(image->path, "[kernel.kallsyms]") != 0)
			continue;
		for (size_t k = 0; k < image->build_id_size; k++)
			snprintf(hex + 2 * k, 3, "%02x", image->build_id[k]);
		put_info("kernel-build-id", hex, block);
		break;
	}
	if (facts->kernel_symbol)
		put_info("kernel-symbol", facts->kernel_symbol, block);
}

static struct mt_text format_of(const struct mt_perf_facts *facts, const struct mt_attr *attr)
{
	for (size_t i = 0; i < facts->formats.count && attr->type == TYPE_TRACEPOINT; i++) {
		const struct mt_perf_format *format = &facts->formats.items[i];

		if (format->id == attr->config)
			return (struct mt_text){format->text, format->size};
	}
	return (struct mt_text){0};
}

/*
 * Whether the event takes no samples: simpleperf gives counted members of a group a period of 1 <<
 * 62.
 */
static bool is_counted(const struct mt_attr *attr)
{
	return !attr->sample_period ||
	       (!mt_attr_has(attr, MT_ATTR_FREQ) && attr->sample_period >= (uint64_t)1 << 62);
}

/*
 * The leader of a group that perf sampled with the counts of all members, {a,b}:S, if event i is
 * only counted in it; else MT_EVENT_NONE.
 */
static uint32_t leader_of(const struct mt_perf_facts *facts, size_t i)
{
	const struct mt_perf_event *events = facts->events.items;
	const uint64_t read = MT_SAMPLE_READ;

	if (!is_counted(&events[i].attr) || !(events[i].attr.sample_type & read) ||
	    !(events[i].attr.read_format & MT_FORMAT_GROUP))
		return MT_EVENT_NONE;
	while (i && is_counted(&events[i].attr))
		i--;
	return !is_counted(&events[i].attr) && events[i].attr.sample_type & read &&
			       events[i].attr.read_format & MT_FORMAT_GROUP
		       ? (uint32_t)i
		       : MT_EVENT_NONE;
}

static void put_event(const struct mt_perf_facts *facts, size_t i, struct mt_block *block)
{
	const struct mt_perf_event *event = &facts->events.items[i];
	bool dummy = event->attr.type == TYPE_SOFTWARE && event->attr.config == SOFTWARE_DUMMY;
	char name[NAME_SIZE];
	struct mt_event_record record = {
		.index = (uint32_t)i,
		.role = dummy ? MT_ROLE_SIDEBAND : MT_ROLE_SAMPLE,
		.pair = leader_of(facts, i),
		.class = MT_CLASS_STORM,
		.attr = {(const char *)event->bytes, event->size},
		.format = format_of(facts, &event->attr),
	};

	if (record.pair != MT_EVENT_NONE)
		record.role = MT_ROLE_MEMBER;
	mt_perf_event_name(facts, event, name, sizeof(name));
	record.name = text_of(name);
	record.unit = text_of(mt_event_unit(name, strlen(name)));
	PUT(event, block, &record);
}

static void put_image(const struct mt_perf_image *image, struct mt_block *block)
{
	struct mt_image_record record = {
		.path = text_of(image->path),
		.build_id = {(const char *)image->build_id, image->build_id_size},
	};

	PUT(image, block, &record);
}

static void put_note(const char *text, struct mt_block *block)
{
	struct mt_note_record record = {.level = NOTE_WARNING, .text = text_of(text)};

	PUT(note, block, &record);
}

void mt_perf_state_make(struct mt_perf_facts *facts, struct mt_block *out)
{
	(void)grow(out);
	mt_block_reset(out, MT_CHUNK_STATE, 0);
	for (size_t i = 0; i < facts->info.count; i++)
		put_info(facts->info.items[i].key, facts->info.items[i].value, out);
	put_kernel(facts, out);
	for (size_t i = 0; i < facts->events.count; i++)
		put_event(facts, i, out);
	if (facts->has_clock)
		PUT(clock, out, &facts->clock);
	for (size_t i = 0; i < facts->images.count; i++)
		put_image(&facts->images.items[i], out);
	if (facts->split)
		put_note("recorded by threads: samples lie in files next to it that are not "
			 "read",
			 out);
	if (facts->limited)
		put_note("more events, ids or build ids than are kept", out);
}
