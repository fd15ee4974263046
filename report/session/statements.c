/*
 * Takes records about the recording: origin, events, tasks and mappings at the start, losses.
 * spaces.c applies them to tasks and spaces, naming.c to images.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/strings.h"
#include "formats/reader.h"
#include "formats/records/events.h"
#include "formats/records/record.h"
#include "report/account/call.h"
#include "report/account/calls.h"
#include "report/names/host_kernel.h"
#include "report/names/naming.h"
#include "report/session/selection.h"
#include "report/session/session_state.h"
#include "report/stacks/kernel_names.h"
#include "report/stacks/pipeline.h"
#include "report/stacks/spaces.h"
#include "report/tables/byte_runs.h"
#include "symbols/images/image.h"
#include "unwind/return_slots.h"

/* Interns text, and returns it as a terminated string. */
static const char *keep(struct mt_session *session, struct mt_text text)
{
	return mt_strings_get(session->strings,
			      mt_strings_intern(session->strings, text.bytes ? text.bytes : "",
						text.size));
}

static void set_boot(struct mt_session *session, bool this_boot)
{
	mt_session_present(session)->this_boot = this_boot;
	mt_kernel_names_set_boot(mt_naming_kernel(session->naming), this_boot);
}

/* Sets the start of a recording without an END record to the time that the recorder noted. */
static void take_start(struct mt_session *session, const char *value)
{
	struct mt_facts_recording *facts = mt_session_present(session);
	uint64_t start = strtoull(value, NULL, 10);

	if (!start || facts->reading->has_end)
		return;
	if (facts->start_utc)
		facts->start_utc += start - facts->start;
	facts->start = start;
	mt_session_set_bounds(session, facts);
}

static void take_info(struct mt_session *session, const struct mt_info_record *record)
{
	struct mt_facts_recording *facts = mt_session_present(session);
	const char *key = keep(session, record->key);
	/* Strings are interned, so equal keys have equal addresses. The last value is kept. */
	struct mt_facts_pair *pair =
		mt_map64_element(&session->info_by_key, &facts->info, (uintptr_t)key);
	bool again = pair->key;

	*pair = (struct mt_facts_pair){key, keep(session, record->value)};
	if (!strcmp(key, "cgroup"))
		mt_spaces_set_cgroup(session->spaces, &record->value);
	mt_spaces_set_fact(session->spaces, pair->key, pair->value);
	mt_naming_set_fact(session->naming, pair->key, pair->value);
	if (!strcmp(pair->key, "command-pid"))
		facts->command = (int32_t)strtol(pair->value, NULL, 10);
	if (!strcmp(pair->key, "start"))
		take_start(session, pair->value);
	if (!strcmp(pair->key, "boot-id"))
		set_boot(session, mt_kernel_names_is_this_boot(mt_naming_kernel(session->naming),
							       pair->value));
	if (!again && !strcmp(pair->key, "kernel-symbol")) /* follows the other keys */
		set_boot(session,
			 mt_host_kernel_is(mt_facts_info(facts, "kernel"),
					   mt_facts_info(facts, "kernel-build-id"), pair->value));
}

static void take_note(struct mt_session *session, const struct mt_note_record *record)
{
	mt_array_append(&mt_session_present(session)->notes,
			(struct mt_facts_note){record->level, keep(session, record->text)});
}

static void take_clock(struct mt_session *session, const struct mt_clock_record *record)
{
	struct mt_facts_recording *facts = mt_session_present(session);
	const struct mt_recording *reading = facts->reading;

	if (record->monotonic && !facts->ahead_known) {
		facts->ahead = (int64_t)(record->recording - record->monotonic);
		facts->ahead_known = true;
	}
	if (facts->start_utc)
		return;
	/* The first anchor is taken before the events are opened. */
	if (record->recording &&
	    (!reading->first_time || record->recording <= reading->first_time) && !reading->has_end)
		facts->start = record->recording;
	mt_session_set_bounds(session, facts);
	facts->start_utc = record->realtime + (facts->start - record->recording);
}

/*
 * Finds or adds the event in the facts, which have one entry for the same event of all recordings.
 */
static struct mt_facts_event *same_event(struct mt_session *session,
					 const struct mt_facts_event *event)
{
	struct mt_facts *facts = &session->facts;
	/* Strings are interned: equal strings have equal addresses. */
	const uint64_t key[] = {event->role, (uintptr_t)event->name, (uintptr_t)event->alias,
				(uintptr_t)event->account};
	uint32_t id = mt_byte_runs_intern(session->event_keys, key, sizeof(key));

	if (id == facts->events.count)
		mt_array_append(&facts->events, *event);
	return &facts->events.items[id];
}

/* True if the word is in the group's list of members. */
static bool has_member(const struct mt_event_def *group, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = group->members; *at; at += strspn(at, ",")) {
		size_t size = strcspn(at, ",");

		if (size == length && !memcmp(at, word, size))
			return true;
		at += size;
	}
	return false;
}

/* Matches an event by its alias, its kernel name, or the name of a group for mtrec -e. */
static bool names_event(const struct mt_match *match, const struct mt_facts_event *event)
{
	if (mt_match_text(match, event->alias) || mt_match_text(match, event->name))
		return true;
	for (size_t i = 0; i < mt_match_words(match); i++) {
		const char *word = mt_match_word(match, i);
		const struct mt_event_def *def = mt_event_def_find(word, strlen(word));

		if (def && def->kind == MT_EVENT_GROUP &&
		    (has_member(def, event->alias) || has_member(def, event->name)))
			return true;
	}
	return false;
}

static bool has_choosy_observer(const struct mt_session *session)
{
	for (size_t i = 0; i < session->observers.count; i++) {
		if (session->observers.items[i]->wants)
			return true;
	}
	return false;
}

static bool observers_want(const struct mt_session *session, const struct mt_facts_event *event)
{
	bool good = true;

	for (size_t i = 0; i < session->observers.count && good; i++) {
		const struct mt_observer *observer = session->observers.items[i];

		good = !observer->wants || observer->wants(observer->context, event);
	}
	return good;
}

static bool wants_event(const struct mt_session *session, const struct mt_facts_event *event)
{
	const struct mt_match *match = session->options->selection->events;

	bool (*wants)(const char *name) = session->options->wants;
	bool serves =
		event->role == MT_ROLE_SAMPLE ||
		(event->role == MT_ROLE_SEED && session->pipeline && session->options->joining) ||
		(event->role == MT_ROLE_MEMBER && session->options->members &&
		 !has_choosy_observer(session));

	return serves && (!wants || wants(event->name)) && observers_want(session, event) &&
	       names_event(match, event);
}

/*
 * True if the event's marks are exits of calls and -e selects it, and so the effects of the calls.
 */
static bool marks_calls(const struct mt_session *session, const struct mt_facts_event *event)
{
	const struct mt_selection *selection = session->options->selection;
	enum mt_vm_call_kind kind;

	return event->role == MT_ROLE_MARK && !mt_selection_needs_stacks(selection) &&
	       mt_vm_call_moment(event->name, &kind) == MT_MOMENT_EXIT &&
	       names_event(selection->events, event);
}

static bool begins_with(const struct mt_text *text, const char *name)
{
	size_t length = strlen(name);

	return text->size >= length && !memcmp(text->bytes, name, length);
}

/*
 * Finds what return probes need. In their samples, pc is the return address in the caller. mtrec
 * also records marks at the entry of the function, with the stack slot of the return address.
 */
static void find_return_fields(struct mt_local_event *local, const struct mt_event_record *record)
{
	local->returns = begins_with(&record->account, "alloc ") ||
			 mt_field_find(&record->format, "__probe_ret_ip").size;
	if (record->role != MT_ROLE_MARK)
		return;
	local->return_slot = mt_field_find(&record->format, "return_slot");
	local->return_address = mt_field_find(&record->format, "return_address");
}

/*
 * Finds the fields of marks that complete kernel records: what a new task shares, and which process
 * was moved to another cgroup.
 */
static void find_task_fields(struct mt_local_event *local, const struct mt_event_record *record)
{
	if (begins_with(&record->name, "task:task_newtask")) {
		local->clone_flags = mt_field_find(&record->format, "clone_flags");
		local->clone_tid = mt_field_find(&record->format, "pid");
	}
	if (begins_with(&record->name, "cgroup:cgroup_attach_task")) {
		local->moved_pid = mt_field_find(&record->format, "pid");
		local->moved_to = mt_field_find(&record->format, "dst_path");
		local->moved_in = mt_field_find(&record->format, "dst_root");
	}
}

/* Adds an event that is counted alongside the samples of its pair. */
static void add_member(struct mt_session *session, struct mt_local_event *local,
		       const struct mt_event_record *record)
{
	struct mt_local_event *leader = mt_session_local_event(session, record->pair);

	if (record->role == MT_ROLE_MEMBER && leader && leader->role == MT_ROLE_SAMPLE)
		mt_session_add_member(session, local, leader);
}

/* The dump size of the pair of a seed, whose dumps are shorter; 0 if the event is not a seed. */
static uint32_t shorter_dump(struct mt_session *session, const struct mt_event_record *record)
{
	const struct mt_local_event *pair = mt_session_local_event(session, record->pair);

	return record->role == MT_ROLE_SEED && pair ? pair->attr.sample_stack_user : 0;
}

static void take_event(struct mt_session *session, const struct mt_event_record *record)
{
	struct mt_facts_event event =
				      {
					      .name = keep(session, record->name),
					      .alias = keep(session, record->alias.size
									     ? record->alias
									     : record->name),
					      .unit = keep(session, record->unit),
					      .format = keep(session, record->format),
					      .account = keep(session, record->account),
					      .role = record->role,
				      },
			      *known;
	struct mt_local_event *local;
	uint64_t index;

	if (mt_map64_get(&session->by_index, record->index, &index))
		return;
	if (!mt_attr_decode(record->attr.bytes, record->attr.size, &event.attr))
		return; /* the event's records will count as undecodable */
	known = same_event(session, &event);
	local = mt_alloc(1, sizeof(*local));
	*local = (struct mt_local_event){
		.event = (uint32_t)(known - session->facts.events.items),
		.role = record->role,
		.shorter = shorter_dump(session, record),
		.attr = event.attr,
		.weight = 1,
		.call = mt_call_number(event.name),
		.wanted = wants_event(session, &event),
		.marks = marks_calls(session, &event),
	};
	known->wanted |= local->wanted || local->marks;
	find_task_fields(local, record);
	find_return_fields(local, record);
	mt_map64_put(&session->by_index, record->index, session->local.count);
	mt_array_append(&session->local, local);
	add_member(session, local, record);
	mt_session_show(session, &(struct mt_observed){.kind = MT_OBSERVED_EVENT,
						       .event = local->event,
						       .described = record});
}

static void take_loss(struct mt_session *session, const struct mt_loss_record *record)
{
	struct mt_facts_loss *loss = mt_array_push(&mt_session_present(session)->losses);
	const struct mt_local_event *event = mt_session_local_event(session, record->event);

	*loss = (struct mt_facts_loss){
		.stream = record->stream,
		.event = event ? event->event : MT_EVENT_NONE,
		.source = record->source,
		.from = record->from,
		.to = record->to,
		.count = record->count,
	};
	if (event)
		session->facts.events.items[event->event].lost += record->count;
	if (session->returns)
		mt_return_slots_clear(session->returns);
	mt_session_show(session, &(struct mt_observed){.kind = MT_OBSERVED_LOSS,
						       .event = loss->event,
						       .loss = record});
}

static void take_weight(struct mt_session *session, const struct mt_weight_record *record)
{
	struct mt_local_event *event = mt_session_local_event(session, record->event);

	if (event)
		event->weight = (double)record->numerator / (double)record->denominator;
}

static void take_blocks(struct mt_session *session, const struct mt_blocks_record *record)
{
	struct mt_facts_recording *facts = mt_session_present(session);

	if (!record->one_in && (!facts->blocks_end || record->from < facts->blocks_end))
		facts->blocks_end = record->from;
}

static void take_task(struct mt_session *session, const struct mt_task_record *record)
{
	mt_spaces_add_task(session->spaces, record);
	mt_session_show(session, &(struct mt_observed){
					 .kind = MT_OBSERVED_TASK,
					 .task = mt_spaces_find(session->spaces, record->tid),
				 });
}

static void show_map(struct mt_session *session, const struct mt_map_record *record, bool again)
{
	const struct mt_task *leader = mt_spaces_find(session->spaces, record->pid);

	mt_session_show(session, &(struct mt_observed){
					 .kind = MT_OBSERVED_MAP,
					 .space = leader ? leader->space : NULL,
					 .map = record,
					 .again = again,
				 });
}

static void take_map(struct mt_session *session, const struct mt_map_record *record)
{
	mt_session_present(session)->maps++;
	mt_spaces_add_map(session->spaces, record);
	show_map(session, record, false);
}

static void take_gauge(struct mt_session *session, const struct mt_gauge_record *record)
{
	mt_session_show(session, &(struct mt_observed){
					 .kind = MT_OBSERVED_GAUGE,
					 .task = mt_spaces_find(session->spaces, record->pid),
					 .gauge = record,
				 });
}

static void take_image(struct mt_session *session, const struct mt_image_record *record, bool late)
{
	const struct mt_image_set *images = mt_naming_images(session->naming);
	size_t known = mt_image_set_count(images);

	if (session->pipeline) /* the record may change images that workers read */
		mt_pipeline_settle(session->pipeline);
	mt_naming_add_image(session->naming, record);
	session->earlier |= late && mt_image_set_count(images) == known;
}

/*
 * True if a statement of this type does not change the meaning of earlier records. For IMAGE,
 * take_image() decides.
 */
static bool only_adds(uint32_t type)
{
	return type == MT_RECORD_CLOCK || type == MT_RECORD_NOTE || type == MT_RECORD_GAUGE ||
	       type == MT_RECORD_IMAGE;
}

/* Decodes a record with get() and passes it to `take`; false if the record is too short. */
#define TAKE(member, get, take) \
	(get(record->body, record->size, &r.member) ? ((take), true) : false)

/* False if the record is too short; `late`: a record about the recording that came after data. */
static bool take_by_type(struct mt_session *session, const struct mt_record *record, bool late)
{
	union {
		struct mt_info_record info;
		struct mt_event_record event;
		struct mt_clock_record clock;
		struct mt_task_record task;
		struct mt_map_record map;
		struct mt_image_record image;
		struct mt_loss_record loss;
		struct mt_weight_record weight;
		struct mt_blocks_record blocks;
		struct mt_note_record note;
		struct mt_gauge_record gauge;
	} r;

	switch (record->type) {
	case MT_RECORD_INFO:
		return TAKE(info, mt_info_get, take_info(session, &r.info));
	case MT_RECORD_EVENT:
		return TAKE(event, mt_event_get, take_event(session, &r.event));
	case MT_RECORD_CLOCK:
		return TAKE(clock, mt_clock_get, take_clock(session, &r.clock));
	case MT_RECORD_TASK:
		return TAKE(task, mt_task_get, take_task(session, &r.task));
	case MT_RECORD_MAP:
		return TAKE(map, mt_map_get, take_map(session, &r.map));
	case MT_RECORD_REREAD:
		return TAKE(map, mt_map_get, show_map(session, &r.map, true));
	case MT_RECORD_GAUGE:
		return TAKE(gauge, mt_gauge_get, take_gauge(session, &r.gauge));
	case MT_RECORD_IMAGE:
		return TAKE(image, mt_image_get, take_image(session, &r.image, late));
	case MT_RECORD_LOSS:
		return TAKE(loss, mt_loss_get, take_loss(session, &r.loss));
	case MT_RECORD_WEIGHT:
		return TAKE(weight, mt_weight_get, take_weight(session, &r.weight));
	case MT_RECORD_BLOCKS:
		return TAKE(blocks, mt_blocks_get, take_blocks(session, &r.blocks));
	case MT_RECORD_NOTE:
		return TAKE(note, mt_note_get, take_note(session, &r.note));
	default:
		return true;
	}
}

void mt_session_take_statement(struct mt_session *session, const struct mt_record *record)
{
	bool late = record->state && session->has_data;

	session->earlier |= late && !only_adds(record->type);
	session->facts.undecodable += !take_by_type(session, record, late);
}
