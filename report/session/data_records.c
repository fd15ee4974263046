/*
 * Applies kernel records to the spaces. Decodes and counts samples, and passes them on if the
 * selectors accept them. Stack selectors are applied later.
 */
#include <sched.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "formats/reader.h"
#include "formats/records/record.h"
#include "formats/records/sample_type.h"
#include "formats/stacks/sample_record.h"
#include "report/account/calls.h"
#include "report/account/regions.h"
#include "report/names/naming.h"
#include "report/session/selection.h"
#include "report/session/session_state.h"
#include "report/stacks/kernel_names.h"
#include "report/stacks/pipeline.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stacks.h"
#include "unwind/return_slots.h"

enum {
	PROGRESS_EVERY = 4096, /* records */
};

static bool select_task(const struct mt_session *session, const struct mt_task *task, uint64_t time)
{
	const struct mt_selection *s = session->options->selection;

	return time >= session->from && time < session->to &&
	       mt_numbers_match(&s->pids, task->pid) && mt_numbers_match(&s->tids, task->tid) &&
	       mt_match_text(s->comms, mt_strings_get(session->strings, task->comm));
}

static bool select_sample(const struct mt_session *session, const struct mt_task *task,
			  uint64_t time)
{
	const struct mt_selection *s = session->options->selection;

	return select_task(session, task, time) &&
	       mt_numbers_match(&s->cpus, (long)(int32_t)session->sample.cpu);
}

bool mt_session_selects(const struct mt_session *session, const struct mt_task *task, uint64_t time)
{
	const struct mt_selection *s = session->options->selection;

	return !s->events && !s->cpus.count && !mt_selection_needs_stacks(s) &&
	       (!task->space || mt_space_is_target(task->space)) &&
	       select_task(session, task, time);
}

/*
 * Makes the child of clone() share the space of its parent if CLONE_VM is set. Without
 * CLONE_THREAD, the FORK record looks like that of a copied space.
 */
static void take_clone(struct mt_session *session, const struct mt_local_event *event)
{
	uint64_t flags, tid;

	if (mt_field_get(&event->clone_flags, &session->sample, &flags) && flags & CLONE_VM &&
	    mt_field_get(&event->clone_tid, &session->sample, &tid))
		mt_spaces_share(session->spaces, session->sample.tid, (int32_t)tid);
}

/* Moves a process to another cgroup. */
static void take_move(struct mt_session *session, const struct mt_local_event *event)
{
	struct mt_text path = {0};
	uint64_t pid, hierarchy;

	path.bytes = mt_field_text(&event->moved_to, &session->sample, &path.size);
	if (path.bytes && mt_field_get(&event->moved_pid, &session->sample, &pid) &&
	    mt_field_get(&event->moved_in, &session->sample, &hierarchy))
		mt_spaces_move(session->spaces, (int32_t)pid, hierarchy, &path);
}

/* Takes an event at the entry of a function with a return probe: notes the return address. */
static void take_entry(struct mt_session *session, const struct mt_local_event *event)
{
	struct mt_return_slot entered;

	if (!session->pipeline ||
	    !mt_field_get(&event->return_slot, &session->sample, &entered.slot) ||
	    !mt_field_get(&event->return_address, &session->sample, &entered.address))
		return;
	if (!session->returns)
		session->returns = mt_return_slots_create();
	mt_return_slots_enter(session->returns, session->sample.tid, &entered);
}

/* Shows a sample or mark to the observers. `given`: take_sample() passes it on. */
static void show_sample(struct mt_session *session, const struct mt_local_event *event,
			const struct mt_session_sample *sample, bool given)
{
	const struct mt_task *task;
	bool marks;

	if (!session->observers.count)
		return;
	task = mt_spaces_task(session->spaces, session->sample.pid, session->sample.tid);
	mt_space_sampled(task->space);
	marks = event->marks && select_sample(session, task, sample->time);
	session->facts.marks += marks;
	mt_session_show(session, &(struct mt_observed){
					 .kind = MT_OBSERVED_SAMPLE,
					 .event = event->event,
					 .serial = sample->serial,
					 .time = sample->time,
					 .selected = given,
					 .marks = marks,
					 .task = task,
					 .attr = &event->attr,
					 .sample = &session->sample,
				 });
}

/* Finds the region at the sample's address at this time. */
static void find_region(struct mt_session *session, struct mt_session_sample *sample)
{
	bool known = sample->attr->sample_type & MT_SAMPLE_ADDR;
	struct mt_region region =
		known ? mt_region_at(sample->space->map, sample->kernel->addr) : mt_region_none();

	sample->kind = mt_strings_intern(session->strings, region.kind, strlen(region.kind));
	sample->file = mt_strings_intern(session->strings, region.name, strlen(region.name));
}

/* Converts a decoded sample to *out; true if the selectors accept it. */
static bool fill_sample(struct mt_session *session, const struct mt_local_event *event,
			struct mt_session_sample *out)
{
	const struct mt_task *task =
		mt_spaces_task(session->spaces, session->sample.pid, session->sample.tid);

	mt_spaces_come_to(task->space, out->time);
	*out = (struct mt_session_sample){
		.event = event->event,
		.recording = session->index,
		.serial = out->serial,
		.place = out->place,
		.time = out->time,
		.weight = event->weight,
		.seed = event->role == MT_ROLE_SEED,
		.shorter = event->shorter,
		.task = task,
		.space = task->space,
		.map = task->space->map,
		.process = task->space->comm,
		.cgroup = task->space->cgroup,
		.attr = &event->attr,
		.kernel = &session->sample,
		.stack = MT_STACK_NONE,
		.returned = event->returns,
	};
	if (session->returns)
		out->returns = mt_return_slots_get(session->returns, session->sample.tid,
						   &out->return_count);
	if (!select_sample(session, task, out->time))
		return false;
	if (session->options->regions)
		find_region(session, out);
	return true;
}

/* Keeps the counts of a sample's group members, if the selectors accept the sample. */
static void keep_members(struct mt_session *session, const struct mt_local_event *event,
			 const struct mt_session_sample *sample)
{
	session->alongside = *sample;
	mt_session_read_members(session, event);
	if (!fill_sample(session, event, &session->alongside))
		session->next_member = session->members.count;
}

static bool choose_sample(struct mt_session *session, const struct mt_local_event *event,
			  struct mt_session_sample *out)
{
	session->facts.events.items[event->event].samples++;
	session->facts.events.items[event->event].thinned |= event->weight > 1;
	if (event->role == MT_ROLE_SAMPLE) {
		session->facts.samples++;
		mt_session_present(session)->samples++;
	}
	if (event->members)
		keep_members(session, event, out);
	return event->wanted && fill_sample(session, event, out);
}

/* Sets *out to a sample of the next group member counted with the last sample; false at the end. */
static bool give_member(struct mt_session *session, struct mt_session_sample *out)
{
	const struct mt_member *member = mt_session_next_member(session);

	if (!member)
		return false;
	*out = session->alongside;
	out->event = member->event->event;
	out->weight = (double)member->grown;
	out->member = true;
	return true;
}

static bool take_sample(struct mt_session *session, const struct mt_local_event *event,
			uint64_t time, struct mt_session_sample *out)
{
	bool wanted;

	out->time = time;
	out->serial = mt_reader_given(session->readers.items[session->reader]);
	if (mt_spaces_is_recorder(session->spaces, session->sample.tid))
		return false;
	if (event->role == MT_ROLE_SEED)
		return choose_sample(session, event, out);
	take_clone(session, event);
	take_move(session, event);
	take_entry(session, event);
	wanted = choose_sample(session, event, out);
	show_sample(session, event, out, wanted);
	return wanted;
}

/* Counts lost records in perf.data files. Recordings of mtrec have LOSS records instead. */
static void count_lost(struct mt_facts_recording *facts, const struct mt_kernel_record *record)
{
	if (record->type == MT_KERNEL_LOST_SAMPLES)
		facts->counted_lost += record->lost;
	else if (record->type == MT_KERNEL_LOST)
		facts->kernel_lost += record->lost;
}

/* The task of a record: for FORK, the parent before the record is applied, and the child after. */
static const struct mt_task *subject(struct mt_session *session,
				     const struct mt_kernel_record *record, bool applied)
{
	bool fork = record->type == MT_KERNEL_FORK;

	return mt_spaces_find(session->spaces, fork && !applied ? record->ptid : record->tid);
}

static void apply_kernel_record(struct mt_session *session, const struct mt_kernel_record *record)
{
	const struct mt_task *before = subject(session, record, false);
	struct mt_observed observed = {
		.kind = MT_OBSERVED_KERNEL,
		.time = record->time,
		.kernel = record,
		.space = before ? before->space : NULL,
	};

	mt_spaces_apply(session->spaces, record);
	observed.task = subject(session, record, true);
	mt_session_show(session, &observed);
}

static void take_kernel_record(struct mt_session *session, const struct mt_attr *attr,
			       const struct mt_kernel_bytes *bytes)
{
	struct mt_kernel_record record;

	if (!mt_kernel_record_decode(attr, bytes->kernel, bytes->kernel_size, &record)) {
		session->facts.undecodable++;
		return;
	}
	mt_session_present(session)->throttled += record.type == MT_KERNEL_THROTTLE;
	if (mt_session_present(session)->reading->foreign)
		count_lost(mt_session_present(session), &record);
	if ((record.type == MT_KERNEL_MMAP || record.type == MT_KERNEL_MMAP2) && record.pid == -1)
		mt_kernel_names_map(mt_naming_kernel(session->naming), &record);
	else
		apply_kernel_record(session, &record);
}

/* Sets the weight and stack of a sample from its reported stack. */
static void take_reported(struct mt_session *session, const struct mt_reported_stack *reported,
			  struct mt_session_sample *out)
{
	out->weight = reported->weight;
	if (!session->stacks)
		return;
	out->stack = mt_session_reported_stack(session, reported);
	out->frames = (uint32_t)session->reported_frames.count;
}

/* Takes KERNEL, SAMPLE and FRAMES records. Sets *out and returns true for a wanted sample. */
static bool take_data(struct mt_session *session, const struct mt_record *record,
		      struct mt_session_sample *out)
{
	struct mt_kernel_bytes bytes = {0};
	const struct mt_local_event *event = NULL;

	if (mt_record_kernel_get(record, &bytes) && bytes.kernel_size >= 8)
		event = mt_session_local_event(session, bytes.event);
	if (event && mt_get_le32(bytes.kernel) != MT_KERNEL_SAMPLE) {
		if (event->role == MT_ROLE_SIDEBAND)
			session->facts.events.items[event->event].samples++;
		take_kernel_record(session, &event->attr, &bytes);
		return false;
	}
	if (!event || !mt_sample_decode_bytes(&event->attr, &bytes, &session->sample)) {
		session->facts.undecodable++;
		return false;
	}
	if (event->call >= 0 && !record->reported &&
	    mt_call_number_in(&session->sample) != event->call)
		return false;
	out->place = record->place;
	if (!take_sample(session, event, record->time, out))
		return false;
	if (record->reported)
		take_reported(session, record->reported, out);
	return true;
}

static void show_progress(struct mt_session *session, uint64_t time)
{
	const struct mt_facts_recording *facts = mt_session_present(session);
	double length = (double)(facts->end - facts->start), part = 0;

	if (!session->options->progress || ++session->records % PROGRESS_EVERY)
		return;
	if (time > facts->start && time <= facts->end && length > 0)
		part = (double)(time - facts->start) / length;
	session->options->progress(session->options->progress_context,
				   ((double)session->index + part) /
					   (double)session->facts.recordings.count);
}

/* Passes over an unwanted record. False if the pipeline must be emptied before more is read. */
static bool pass(struct mt_session *session, struct mt_reader *reader,
		 const struct mt_record *record)
{
	uint64_t serial = mt_reader_given(reader);

	if (!session->pipeline || mt_session_present(session)->reading->reported)
		return true;
	if (mt_pipeline_pass(session->pipeline, record->size + session->sample.dump_was, serial))
		mt_reader_release(reader, serial);
	return mt_pipeline_has_room(session->pipeline);
}

/*
 * Reads up to the next sample of this recording that the selectors accept, but for stack selectors.
 */
struct mt_error *mt_session_read_sample(struct mt_session *session, struct mt_session_sample *out,
					bool *wanted)
{
	struct mt_reader *reader = session->readers.items[session->reader];
	struct mt_record record;
	struct mt_error *err;
	bool have;

	*wanted = give_member(session, out);
	while (!*wanted) {
		err = mt_reader_next(reader, &record, &have);
		session->paused = !have && session->options->growth && !session->ending;
		session->read_all = !have && !session->paused;
		if (err || !have)
			return err;
		record.type &= ~MT_RECORD_CRITICAL;
		session->has_data |= !record.state;
		if (!record.state) /* the time of a state record may be far ahead */
			show_progress(session, record.time);
		if (record.type >= MT_RECORD_KERNEL && record.type <= MT_RECORD_PACKED)
			*wanted = take_data(session, &record, out);
		else
			mt_session_take_statement(session, &record);
		if (!*wanted)
			*wanted = give_member(session, out);
		if (!*wanted && !pass(session, reader, &record))
			return NULL;
	}
	return NULL;
}
