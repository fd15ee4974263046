/*
 * perf's own records. In a pipe they hold the facts that a file has in its header and features.
 * Types without facts (TIME_CONV, THREAD_MAP, ID_INDEX ...) are skipped.
 */
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/perfdata/perfdata.h"

#define TYPE_NAME_SIZE 64
#define ATTR_AT 8

enum update { /* EVENT_UPDATE's type */
	UPDATE_NAME = 2,
};

/* The header, the attr, whose size is in the attr, then ids to the end. */
static bool take_attr(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	size_t size;
	const uint8_t *attr, *ids;

	if (mt_cursor_left(c) < ATTR_AT)
		return true;
	size = mt_get_le32(c->pos + 4);
	attr = mt_cursor_bytes(c, size ? size : 64);
	if (!attr)
		return true;
	ids = c->pos;
	return mt_perf_add_event(facts, attr, size ? size : 64, ids, mt_cursor_left(c) / 8);
}

static bool take_event_type(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t id = mt_cursor_u64(c);
	const char *name = (const char *)mt_cursor_bytes(c, TYPE_NAME_SIZE);

	if (!name || !memchr(name, 0, TYPE_NAME_SIZE))
		return true;
	return mt_perf_add_number(facts, false, id, name);
}

static bool take_update(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t type = mt_cursor_u64(c);
	const uint8_t *id = mt_cursor_bytes(c, 8);
	const char *name = mt_cursor_cstring(c);
	struct mt_perf_event *event;

	if (c->bad || type != UPDATE_NAME)
		return true;
	event = mt_perf_event_by_ids(facts, id, 1, SIZE_MAX);
	return !event || mt_perf_set_name(facts, event, name);
}

static bool take_feature(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t feature = mt_cursor_u64(c);

	if (c->bad || feature >= MT_PERF_FEATURE_BITS)
		return true;
	return mt_perf_feature(facts, (uint32_t)feature, c->pos, mt_cursor_left(c));
}

bool mt_perf_user_record(struct mt_perf_facts *facts, const uint8_t *record, size_t size,
			 const uint8_t *data, size_t data_size)
{
	struct mt_cursor c = mt_cursor_init(record, size);

	mt_cursor_bytes(&c, 8);
	switch (mt_get_le32(record)) {
	case MT_PERF_HEADER_ATTR:
		return take_attr(facts, &c);
	case MT_PERF_EVENT_TYPE:
		return take_event_type(facts, &c);
	case MT_PERF_TRACING_DATA:
		return mt_perf_tracing(facts, data, data_size);
	case MT_PERF_BUILD_ID:
		return mt_perf_build_id(facts, record, size, false);
	case MT_PERF_EVENT_UPDATE:
		return take_update(facts, &c);
	case MT_PERF_FEATURE:
		return take_feature(facts, &c);
	default:
		return true;
	}
}
