/*
 * Recognizes page events and reads their fields.
 */
#include "report/ledger/page_events.h"

#include <string.h>

#include "formats/base/cursor.h"
#include "formats/records/record.h"
#include "report/tables/facts.h"

enum {
	GFP_HIGHMEM = 2,
	GFP_MOVABLE = 8,
	ORDER_MOST = 18, /* 1 GiB */
};

/* True if an event's kernel name is `name`, alone or followed by a filter or perf's modifiers. */
static bool is_named(const char *event, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(event, name, length) &&
	       (!event[length] || event[length] == '/' || event[length] == ':');
}

struct mt_page_event mt_page_event_of(const struct mt_facts_event *event)
{
	struct mt_text format = {event->format, strlen(event->format)};
	struct mt_page_event out = {.moment = MT_PAGE_NONE};

	if (is_named(event->name, "page-faults") || is_named(event->name, "faults")) {
		out.moment = MT_PAGE_FAULT;
	} else if (is_named(event->name, "kmem:rss_stat")) {
		out.moment = strchr(event->name, '/') ? MT_PAGE_PART : MT_PAGE_COUNT;
		out.mm = mt_field_find(&format, "mm_id");
		out.current = mt_field_find(&format, "curr");
		out.member = mt_field_find(&format, "member");
		out.size = mt_field_find(&format, "size");
	} else if (is_named(event->name, "kmem:mm_page_alloc")) {
		out.moment = MT_PAGE_ALLOC;
		out.order = mt_field_find(&format, "order");
		out.flags = mt_field_find(&format, "gfp_flags");
	}
	return out;
}

bool mt_page_count_get(const struct mt_page_event *event, const struct mt_sample *sample,
		       struct mt_page_count *out)
{
	uint64_t mm, current, member, bytes;

	if (!mt_field_get(&event->mm, sample, &mm) ||
	    !mt_field_get(&event->current, sample, &current) ||
	    !mt_field_get(&event->member, sample, &member) ||
	    !mt_field_get(&event->size, sample, &bytes) || member >= MT_PAGES_MEMBERS ||
	    bytes >> 56)
		return false;
	*out = (struct mt_page_count){
		.mm = (uint32_t)mm, .member = (uint32_t)member, .own = current, .bytes = bytes};
	return true;
}

uint32_t mt_page_alloc_order(const struct mt_page_event *event, const struct mt_sample *sample)
{
	uint64_t order, flags;

	if (!mt_field_get(&event->order, sample, &order) ||
	    !mt_field_get(&event->flags, sample, &flags) || order > ORDER_MOST)
		return 0;
	return (flags & GFP_HIGHMEM) && (flags & GFP_MOVABLE) ? (uint32_t)order : 0;
}
