/*
 * Events that were only counted, beside the samples of the first of their group ({a,b}:S): each
 * such sample has all counts, and what one has grown by since the sample before becomes a sample of
 * that event, at the same place and weighing as much.
 */
#include "formats/record.h"
#include "formats/sample.h"
#include "report/facts.h"
#include "report/session_parts.h"

enum {
	TID_BITS = 22, /* the kernel's PID_MAX_LIMIT */
};

bool mt_session_add_member(struct mt_session *session, struct mt_local_event *event,
			   struct mt_local_event *leader)
{
	struct mt_member *member = mt_array_push(&session->members);

	if (!member)
		return false;
	*member = (struct mt_member){.event = event, .leader = leader};
	leader->members++;
	return true;
}

/*
 * What the event has grown by in its thread or on its CPU; a thread's first count is all its own.
 */
static bool grown(struct mt_session *session, const struct mt_attr *attr,
		  const struct mt_read_value *read, uint64_t *out)
{
	uint64_t tid = mt_attr_has(attr, MT_ATTR_INHERIT) ? (uint32_t)session->sample.tid : 0;
	uint64_t key = read->id << TID_BITS ^ tid, before = 0;

	mt_map64_get(&session->counted, key, &before);
	/* less than before: another thread by that number */
	*out = read->value >= before ? read->value - before : read->value;
	return mt_map64_put(&session->counted, key, read->value);
}

bool mt_session_read_members(struct mt_session *session, const struct mt_local_event *leader)
{
	size_t at = 1, count = mt_sample_read_count(&leader->attr, &session->sample);
	struct mt_read_value read;
	uint64_t period;

	session->next_member = 0;
	/* what the leader itself counted is more than its period says, where samples were lost */
	if (count == leader->members + 1) {
		if (!mt_sample_read_get(&leader->attr, &session->sample, 0, &read) ||
		    !grown(session, &leader->attr, &read, &period))
			return false;
		session->sample.period = period ? period : session->sample.period;
	}
	for (size_t i = 0; i < session->members.count; i++) {
		struct mt_member *member = &session->members.items[i];

		member->grown = 0;
		if (member->leader != leader || count != leader->members + 1)
			continue;
		if (!mt_sample_read_get(&leader->attr, &session->sample, at++, &read) ||
		    !grown(session, &leader->attr, &read, &member->grown))
			return false;
		session->facts.events.items[member->event->event].samples += member->grown > 0;
		if (!member->event->wanted)
			member->grown = 0;
	}
	return true;
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
