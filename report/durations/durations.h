/*
 * Durations between two events: each sample of an end is matched with the latest record of its
 * begin, of the same thread or with the same value of a field.
 */
#ifndef MT_REPORT_DURATIONS_DURATIONS_H
#define MT_REPORT_DURATIONS_DURATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_durations;
struct mt_session;
struct mt_session_sample;

enum {
	MT_DURATION_RULES = 16, /* maximum number of rules */
};

struct mt_duration_rule {
	const char *begin, *end; /* names or aliases of events; may be the same */
	const char *field;	 /* field with the same number in both; NULL: same thread */
};

/*
 * Restricts the session to the rules' events, unless another caller reads it too (`alongside`).
 * Borrows all arguments until the durations are destroyed. Call before the first sample.
 */
struct mt_durations *mt_durations_create(struct mt_session *session,
					 const struct mt_duration_rule *rules, size_t count,
					 bool alongside);
void mt_durations_destroy(struct mt_durations *durations);

/* True if the session's last sample ends a duration, *ns long. */
bool mt_durations_take(const struct mt_durations *durations, const struct mt_session_sample *sample,
		       uint64_t *ns);

/* Facts of an event that a rule names. */
struct mt_duration_event {
	bool known;   /* the event was recorded */
	bool samples; /* the event was recorded with samples */
	bool field;   /* the event has the rule's field, or the rule has none */
};

/* What is known of an event. Call after the last sample. */
struct mt_duration_event mt_durations_know(const struct mt_durations *durations, const char *name,
					   const char *field);

/* Adds the numbers of incomplete durations to the session's facts. */
void mt_durations_report(const struct mt_durations *durations);

#endif
