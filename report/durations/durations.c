/* Matches each record of an end with a begin as it is read. Keeps the last duration delivered. */
#include "report/durations/durations.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/tables/facts.h"
#include "report/tables/trace_fields.h"

/* The role of an event in the rules, as bits. */
struct part {
	bool known, seed, mark;
	uint32_t begins, ends;
	struct mt_field fields[MT_DURATION_RULES]; /* for rules with a field */
};

/* A duration that has ended. */
struct ended {
	uint32_t recording;
	uint64_t serial, ns;
};

struct mt_durations {
	struct mt_session *session;
	struct mt_observer observer;
	const struct mt_duration_rule *rules;
	size_t count;
	struct mt_map64 begun[MT_DURATION_RULES]; /* by thread or value: ns */
	uint64_t first_end[MT_DURATION_RULES];	  /* ns; 0: none yet */
	MT_ARRAY(struct part) parts;		  /* by event */
	struct ended last;			  /* the last one delivered; serial 0: none */
	uint32_t chains; /* rules, as bits, whose end is also the begin of the next */
	struct mt_facts_durations facts;
};

static bool is_kernel_name(const char *kernel, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(kernel, name, length) && (!kernel[length] || kernel[length] == '/');
}

/* True if `name` is the alias, or the kernel's name without filter, with or without subsystem. */
static bool names(const struct mt_facts_event *event, const char *name)
{
	const char *colon = strchr(event->name, ':');

	return !strcmp(event->alias, name) || is_kernel_name(event->name, name) ||
	       (colon && is_kernel_name(colon + 1, name));
}

static bool wants(void *context, const struct mt_facts_event *event)
{
	const struct mt_durations *durations = context;

	for (size_t i = 0; i < durations->count; i++) {
		if (names(event, durations->rules[i].begin) ||
		    names(event, durations->rules[i].end))
			return true;
	}
	return false;
}

/* True if a paired event has the same alias: samples at exits of a call, marks at entries. */
static bool has_other(const struct mt_facts *facts, const struct mt_facts_event *than,
		      const char *name)
{
	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (event->role != MT_ROLE_SIDEBAND && names(event, name) &&
		    (event->role == MT_ROLE_MARK) != (than->role == MT_ROLE_MARK) &&
		    strcmp(event->name, than->name) != 0)
			return true;
	}
	return false;
}

/* True for a mark that repeats an event with samples: only one of the two records counts. */
static bool is_double(const struct mt_facts *facts, const struct mt_facts_event *mark)
{
	for (size_t i = 0; mark->role == MT_ROLE_MARK && i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];

		if (event->role == MT_ROLE_SAMPLE && !strcmp(event->name, mark->name))
			return true;
	}
	return false;
}

/* The duration of a call begins with its entry; the time to another event begins with its exit. */
static bool begins(const struct mt_facts *facts, const struct mt_facts_event *event,
		   const struct mt_duration_rule *rule)
{
	bool entry = event->role == MT_ROLE_MARK, own = names(event, rule->end);

	return names(event, rule->begin) &&
	       (entry == own || !has_other(facts, event, rule->begin)) &&
	       !(strcmp(rule->begin, rule->end) != 0 && is_double(facts, event));
}

/* A seed of an end ends an open duration, too, but that duration is not delivered. */
static bool ends(const struct mt_facts_event *event, const struct mt_duration_rule *rule)
{
	return (event->role == MT_ROLE_SAMPLE || event->role == MT_ROLE_SEED) &&
	       names(event, rule->end);
}

static const struct part *part_of(struct mt_durations *durations, uint32_t event)
{
	const struct mt_facts *facts = mt_session_facts(durations->session);
	const struct mt_facts_event *of = &facts->events.items[event];
	struct mt_text format = {.bytes = of->format, .size = strlen(of->format)};
	struct part *part = mt_array_at(&durations->parts, event);

	for (size_t i = 0; !part->known && i < durations->count; i++) {
		const struct mt_duration_rule *rule = &durations->rules[i];

		part->begins |= (uint32_t)begins(facts, of, rule) << i;
		part->ends |= (uint32_t)ends(of, rule) << i;
		if (rule->field)
			part->fields[i] = mt_field_find(&format, rule->field);
	}
	part->seed = of->role == MT_ROLE_SEED;
	part->mark = of->role == MT_ROLE_MARK;
	part->known = true;
	return part;
}

/* Reads the key of a rule from a sample. False if the sample lacks the field. */
static bool key_of(const struct mt_durations *durations, const struct part *part, size_t rule,
		   const struct mt_observed *observed, uint64_t *out)
{
	*out = (uint64_t)(uint32_t)observed->task->tid;
	return !durations->rules[rule].field ||
	       mt_field_get(&part->fields[rule], observed->sample, out);
}

static void end(struct mt_durations *durations, size_t rule, uint64_t key, bool seed,
		const struct mt_observed *observed)
{
	struct ended *ended;
	uint64_t begun;

	if (!durations->first_end[rule])
		durations->first_end[rule] = observed->time;
	if (!mt_map64_get(&durations->begun[rule], key, &begun)) {
		durations->facts.unbegun += observed->selected && !seed;
		return;
	}
	mt_map64_remove(&durations->begun[rule], key);
	if (!observed->selected || seed)
		return;
	ended = mt_session_defer(durations->session, &durations->observer, observed);
	ended->recording = observed->recording;
	ended->serial = observed->serial;
	ended->ns = observed->time > begun ? observed->time - begun : 0;
}

static bool is_of(const struct ended *ended, uint32_t recording, uint64_t serial)
{
	return ended->recording == recording && ended->serial == serial;
}

/* If one sample ends several durations, the duration of the first rule counts. */
static void deliver(void *context, void *item, uint32_t stack, bool selected)
{
	struct mt_durations *durations = context;
	const struct ended *ended = item;

	(void)stack;
	(void)selected;
	if (!is_of(&durations->last, ended->recording, ended->serial))
		durations->last = *ended;
}

/*
 * A second begin shows that the end of the first one is missing. For marks this is only so after
 * the first end of any thread: marks are enabled before samples, so earlier ends are not recorded.
 */
static void begin(struct mt_durations *durations, size_t rule, uint64_t key, bool mark,
		  uint64_t time)
{
	uint64_t before;

	if (mt_map64_get(&durations->begun[rule], key, &before))
		durations->facts.unended += !mark || (durations->first_end[rule] &&
						      before >= durations->first_end[rule]);
	mt_map64_put(&durations->begun[rule], key, time);
}

/* One event may end a duration and begin the next. */
static void take_sample(struct mt_durations *durations, const struct mt_observed *observed)
{
	const struct part *part = part_of(durations, observed->event);
	uint64_t key;

	for (size_t i = 0; i < durations->count; i++) {
		if (!((part->ends | part->begins) & 1u << i) ||
		    !key_of(durations, part, i, observed, &key))
			continue;
		if (part->ends & 1u << i)
			end(durations, i, key, part->seed, observed);
		if (part->begins & 1u << i)
			begin(durations, i, key, part->mark, observed->time);
		durations->chains |= part->begins & part->ends;
	}
}

/* Called after lost records: the ends of open durations may be among these. */
static void forget_begun(struct mt_durations *durations)
{
	for (size_t i = 0; i < durations->count; i++) {
		if (!(durations->chains & 1u << i))
			durations->facts.unended += durations->begun[i].count;
		mt_map64_deinit(&durations->begun[i]);
	}
}

static void observe(void *context, const struct mt_observed *observed)
{
	struct mt_durations *durations = context;

	if (observed->kind == MT_OBSERVED_LOSS || observed->kind == MT_OBSERVED_END)
		forget_begun(durations);
	if (observed->kind == MT_OBSERVED_SAMPLE && observed->event != MT_EVENT_NONE)
		take_sample(durations, observed);
}

struct mt_durations *mt_durations_create(struct mt_session *session,
					 const struct mt_duration_rule *rules, size_t count,
					 bool alongside)
{
	struct mt_durations *durations = mt_alloc(1, sizeof(*durations));

	durations->session = session;
	durations->rules = rules;
	durations->count = count;
	durations->observer = (struct mt_observer){
		.context = durations,
		.wants = alongside ? NULL : wants,
		.observe = observe,
		.deliver = deliver,
		.item_size = sizeof(struct ended),
	};
	mt_session_observe(session, &durations->observer);
	return durations;
}

void mt_durations_destroy(struct mt_durations *durations)
{
	if (!durations)
		return;
	mt_session_ignore(durations->session, &durations->observer);
	for (size_t i = 0; i < durations->count; i++)
		mt_map64_deinit(&durations->begun[i]);
	mt_array_deinit(&durations->parts);
	free(durations);
}

bool mt_durations_take(const struct mt_durations *durations, const struct mt_session_sample *sample,
		       uint64_t *ns)
{
	*ns = durations->last.ns;
	return is_of(&durations->last, sample->recording, sample->serial);
}

struct mt_duration_event mt_durations_know(const struct mt_durations *durations, const char *name,
					   const char *field)
{
	const struct mt_facts *facts = mt_session_facts(durations->session);
	struct mt_duration_event out = {.field = !field};

	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_facts_event *event = &facts->events.items[i];
		struct mt_text format = {.bytes = event->format, .size = strlen(event->format)};

		if (!names(event, name))
			continue;
		out.known = true;
		out.samples |= event->role == MT_ROLE_SAMPLE;
		out.field |= field && mt_field_find(&format, field).size;
	}
	return out;
}

void mt_durations_report(const struct mt_durations *durations)
{
	mt_session_add_durations(durations->session, &durations->facts);
}
