/*
 * Members of event groups ({a,b}:S), which are only counted when their leader is sampled. Each
 * sample of the leader has all counts. The growth of a member since the previous sample becomes a
 * sample of that member at the same place, with the growth as its weight.
 */
#include "formats/reader.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "report/session/session_state.h"
#include "report/tables/facts.h"

enum {
	TID_BITS = 22, /* the kernel's PID_MAX_LIMIT */
};

void mt_session_add_member(struct mt_session *session, struct mt_local_event *event,
			   struct mt_local_event *leader)
{
	mt_array_append(&session->members, (struct mt_member){.event = event, .leader = leader});
	leader->members++;
}

/* The growth of an event's count in its thread or on its CPU. The first count is all growth. */
static uint64_t grown(struct mt_session *session, const struct mt_attr *attr,
		      const struct mt_read_value *read)
{
	uint64_t tid = mt_attr_has(attr, MT_ATTR_INHERIT) ? (uint32_t)session->sample.tid : 0;
	uint64_t key = read->id << TID_BITS ^ tid, before = 0;

	mt_map64_get(&session->counted, key, &before);
	mt_map64_put(&session->counted, key, read->value);
	/* a smaller count is of another thread with the same tid */
	return read->value >= before ? read->value - before : read->value;
}

/*
 * The event whose count is at index `at`. It is found by its id if the file has event ids, as
 * perf.data does; else members are in the order of their EVENT records.
 */
static const struct mt_local_event *counted(struct mt_session *session,
					    const struct mt_local_event *leader, size_t at,
					    size_t count, const struct mt_read_value *read)
{
	uint32_t event = MT_EVENT_NONE;

	if (leader->attr.read_format & MT_FORMAT_ID)
		event = mt_reader_event_of_id(session->readers.items[session->reader], read->id);
	if (event != MT_EVENT_NONE)
		return mt_session_local_event(session, event);
	if (count != leader->members + 1)
		return NULL;
	for (size_t i = 0; at && i < session->members.count; i++) {
		if (session->members.items[i].leader == leader && !--at)
			return session->members.items[i].event;
	}
	return at ? NULL : leader;
}

static struct mt_member *member_of(struct mt_session *session, const struct mt_local_event *event)
{
	for (size_t i = 0; i < session->members.count; i++) {
		if (session->members.items[i].event == event)
			return &session->members.items[i];
	}
	return NULL;
}

void mt_session_read_members(struct mt_session *session, const struct mt_local_event *leader)
{
	size_t count = mt_sample_read_count(&leader->attr, &session->sample);
	struct mt_read_value read;
	uint64_t period;

	session->next_member = 0;
	for (size_t i = 0; i < session->members.count; i++)
		session->members.items[i].grown = 0;
	for (size_t i = 0;
	     i < count && mt_sample_read_get(&leader->attr, &session->sample, i, &read); i++) {
		const struct mt_local_event *event = counted(session, leader, i, count, &read);
		struct mt_member *member = member_of(session, event);

		if (!member && event != leader)
			continue;
		period = grown(session, &leader->attr, &read);
		/* the leader's growth exceeds the period if samples were lost */
		if (!member) {
			session->sample.period = period ? period : session->sample.period;
			continue;
		}
		session->facts.events.items[event->event].samples += period > 0;
		member->grown = event->wanted ? period : 0;
	}
}

const struct mt_member *mt_session_next_member(struct mt_session *session)
{
	while (session->next_member < session->members.count) {
		const struct mt_member *member = &session->members.items[session->next_member++];

		if (member->grown)
			return member;
	}
	return NULL;
}
