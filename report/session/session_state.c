/* Functions on the state of a session that all its parts use. */
#include "report/session/session_state.h"

#include "formats/reader.h"
#include "report/session/selection.h"

size_t mt_session_recording_index(const struct mt_session *session)
{
	size_t index = session->recording;

	for (size_t i = 0; i < session->reader; i++)
		index += mt_reader_recordings(session->readers.items[i]);
	return index;
}

struct mt_facts_recording *mt_session_present(struct mt_session *session)
{
	return &session->facts.recordings.items[mt_session_recording_index(session)];
}

/* The end of a recording. Without END, the last mark has the end of the complete part. */
static uint64_t end_of(const struct mt_recording *reading)
{
	if (reading->has_end)
		return reading->end.end;
	return reading->has_mark && reading->mark.complete_below > reading->last_time
		       ? reading->mark.complete_below
		       : reading->last_time;
}

void mt_session_set_bounds(struct mt_session *session, struct mt_facts_recording *facts)
{
	const struct mt_recording *reading = facts->reading;

	if (reading->has_end && (!facts->start || reading->end.start < facts->start))
		facts->start = reading->end.start;
	if (!facts->start)
		facts->start = reading->first_time;
	facts->end = end_of(reading);
	if (facts->end < facts->start) /* cut before its first record with a time */
		facts->end = facts->start;
	mt_timespan_apply(&session->options->selection->time, facts->start, facts->end,
			  &session->from, &session->to);
}

struct mt_local_event *mt_session_local_event(struct mt_session *session, uint32_t index)
{
	uint64_t at;

	return mt_map64_get(&session->by_index, index, &at) ? session->local.items[at] : NULL;
}

bool mt_session_count_undecodable(struct mt_session *session)
{
	session->facts.undecodable++;
	return true;
}

bool mt_session_show(struct mt_session *session, struct mt_observed *observed)
{
	bool good = true;

	observed->recording = (uint32_t)mt_session_recording_index(session);
	for (size_t i = 0; i < session->observers.count && good; i++) {
		const struct mt_observer *observer = session->observers.items[i];

		good = !observer->observe || observer->observe(observer->context, observed);
	}
	return good;
}

bool mt_session_deliver_stack(struct mt_session *session, const struct mt_session_sample *sample,
			      bool wanted)
{
	bool good = true;

	for (size_t i = 0; i < session->observers.count && good; i++) {
		const struct mt_observer *observer = session->observers.items[i];

		good = !observer->stack ||
		       observer->stack(observer->context, sample->serial, sample->stack, wanted);
	}
	return good;
}
