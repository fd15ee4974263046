/*
 * State that all parts of a session use, and its observers. Records are passed to observers as they
 * are read. Items that observers defer are delivered in the same order, each once the stack of its
 * sample is known.
 */
#include "report/session/session_state.h"

#include <string.h>

#include "report/session/selection.h"
#include "report/stacks/stacks.h"

enum {
	GAP = 1 << 16, /* words of delivered items before the others move up */
};

/* ---- The recording ---- */

/* The end of a recording, or, without an END record, of its complete part. */
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
	if (facts->end < facts->start) /* the file is cut before its first record with a time */
		facts->end = facts->start;
	mt_timespan_apply(&session->options->selection->time, facts->start, facts->end,
			  &session->from, &session->to);
}

struct mt_local_event *mt_session_local_event(struct mt_session *session, uint32_t index)
{
	uint64_t at;

	return mt_map64_get(&session->by_index, index, &at) ? session->local.items[at] : NULL;
}

/* ---- Observers ---- */

/* The head of a deferred item; the bytes of the item follow. */
struct item {
	const struct mt_observer *observer; /* NULL: the item is not delivered */
	uint64_t serial;		    /* of the sample */
	uint32_t words;			    /* size of the item with this struct */
	bool waits;			    /* waits for the stack of the sample */
};

void mt_session_observe(struct mt_session *session, const struct mt_observer *observer)
{
	mt_array_append(&session->observers, observer);
}

static struct item *item_at(struct mt_session *session, size_t at)
{
	return (struct item *)&session->deferred.words.items[at];
}

void mt_session_ignore(struct mt_session *session, const struct mt_observer *observer)
{
	size_t kept = 0;

	for (size_t i = 0; i < session->observers.count; i++) {
		if (session->observers.items[i] != observer)
			session->observers.items[kept++] = session->observers.items[i];
	}
	session->observers.count = kept;
	for (size_t at = session->deferred.from; at < session->deferred.words.count;) {
		struct item *item = item_at(session, at);

		if (item->observer == observer)
			item->observer = NULL;
		at += item->words;
	}
}

/* ---- Deferred items ---- */

/* Drops delivered items, once they take enough of the buffer, by moving the others to its front. */
static void move_up(struct mt_deferred *deferred)
{
	size_t left = deferred->words.count - deferred->from;

	if (left && (deferred->from < GAP || deferred->from < left))
		return;
	if (left)
		memmove(deferred->words.items, deferred->words.items + deferred->from,
			left * sizeof(*deferred->words.items));
	deferred->words.count = left;
	deferred->from = 0;
}

void *mt_session_defer(struct mt_session *session, const struct mt_observer *observer,
		       const struct mt_observed *observed)
{
	struct mt_deferred *deferred = &session->deferred;
	size_t words = (sizeof(struct item) + observer->item_size + 7) / 8;
	struct item *item;

	move_up(deferred);
	mt_array_reserve(&deferred->words, deferred->words.count + words);
	item = item_at(session, deferred->words.count);
	memset(item, 0, words * sizeof(*deferred->words.items));
	item->observer = observer;
	item->serial = observed->serial;
	item->words = (uint32_t)words;
	item->waits = observed->selected;
	deferred->words.count += words;
	return item + 1;
}

void mt_session_deliver(struct mt_session *session, uint64_t serial, uint32_t stack, bool selected)
{
	struct mt_deferred *deferred = &session->deferred;

	while (deferred->from < deferred->words.count) {
		struct item *item = item_at(session, deferred->from);

		if (item->waits && item->serial > serial)
			return;
		deferred->from += item->words;
		if (item->observer)
			item->observer->deliver(item->observer->context, item + 1,
						item->waits ? stack : MT_STACK_NONE,
						item->waits && selected);
	}
}

/* ---- Records ---- */

void mt_session_show(struct mt_session *session, struct mt_observed *observed)
{
	observed->recording = session->index;
	for (size_t i = 0; i < session->observers.count; i++) {
		const struct mt_observer *observer = session->observers.items[i];

		if (observer->observe)
			observer->observe(observer->context, observed);
	}
	mt_session_deliver(session, 0, MT_STACK_NONE, false);
}

void mt_session_give(struct mt_session *session, const struct mt_session_sample *sample)
{
	for (size_t i = 0; i < session->observers.count; i++) {
		const struct mt_observer *observer = session->observers.items[i];

		if (observer->given)
			observer->given(observer->context, sample);
	}
}
