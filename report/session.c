/*
 * The one loop over a recording's records. What a record does to tasks and spaces is spaces.c's,
 * what a stack is unwinding.c's; what this file keeps is the event table, the facts, and the
 * decision which samples are wanted.
 */
#include "report/session.h"

#include <stdlib.h>
#include <string.h>

#include "formats/attr.h"
#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/pool.h"
#include "formats/base/strings.h"
#include "formats/reader.h"
#include "formats/record.h"
#include "formats/sample.h"
#include "report/calls.h"
#include "report/facts.h"
#include "report/frames.h"
#include "report/host_kernel.h"
#include "report/naming.h"
#include "report/pipeline.h"
#include "report/selection.h"
#include "report/spaces.h"
#include "report/stacks.h"
#include "report/unwinding.h"
#include "report/walker.h"
#include "symbols/image.h"

enum {
	PROGRESS_EVERY = 4096, /* records */
};

/* An event as the present recording numbers it. */
struct local_event {
	uint32_t event; /* index in facts.events */
	uint32_t role;
	struct mt_attr attr;
	double weight; /* of its samples from now on */
	int64_t call;  /* which system call of raw_syscalls:*; -1: not such an event */
	bool wanted;   /* by -e, and of role 0 */
};

enum verdict { /* of a stack by --dso and --symbol */
	VERDICT_NONE,
	VERDICT_NO,
	VERDICT_YES,
};

struct mt_session {
	const struct mt_session_options *options;
	MT_ARRAY(struct mt_reader *) readers;
	size_t reader, recording; /* the present ones: index of the file, and within it */
	bool reading;
	uint64_t records;
	uint64_t from, to; /* the wanted times of this recording */

	struct mt_strings *strings;
	struct mt_naming *naming;
	struct mt_spaces *spaces;
	struct mt_stacks *stacks;
	struct mt_frames *frames;
	struct mt_unwinding *unwinding;
	struct mt_pool *pool;
	struct mt_pipeline *pipeline; /* NULL: nobody asked for stacks */
	bool read_all;		      /* of this recording: what is left is in the pipeline */
	MT_ARRAY(uint8_t) verdicts;   /* by stack id */

	struct mt_map64 code;	  /* ids of images that are mapped executable */
	struct mt_map64 by_index; /* EVENT index to index in local */
	MT_ARRAY(struct local_event *) local;
	struct mt_facts facts;
	struct mt_sample sample; /* the one given last */
};

MT_DEFINE_CLEANUP(mt_session, struct mt_session)

/* ---- Opening ---- */

static bool wants_stacks(const struct mt_session *session)
{
	return session->options->stacks || mt_selection_needs_stacks(session->options->selection);
}

static struct mt_error *open_files(struct mt_session *session)
{
	const struct mt_reader_options options = {.pool = session->pool,
						  .keep = wants_stacks(session)};

	for (size_t i = 0; i < session->options->file_count; i++) {
		struct mt_reader **slot = mt_array_push(&session->readers);
		struct mt_error *err;

		if (!slot)
			return mt_error_nomem();
		err = mt_reader_open(session->options->files[i], &options, slot);
		if (err) {
			session->readers.count--;
			return err;
		}
	}
	return NULL;
}

/* One facts entry for each recording of each file, in the order they are read. */
static struct mt_error *list_recordings(struct mt_session *session)
{
	for (size_t i = 0; i < session->readers.count; i++) {
		for (size_t k = 0; k < mt_reader_recordings(session->readers.items[i]); k++) {
			struct mt_facts_recording *facts =
				mt_array_push(&session->facts.recordings);

			if (!facts)
				return mt_error_nomem();
			facts->file = session->options->files[i];
			facts->reading = mt_reader_recording(session->readers.items[i], k);
		}
	}
	return NULL;
}

static struct mt_error *prepare_stacks(struct mt_session *session)
{
	const struct mt_session_options *options = session->options;
	struct mt_namer namer = {.name = mt_naming_name, .context = session->naming};
	struct mt_walker_options walker = {
		.method = options->method,
		.max_frames = options->max_frames,
		.addresses = options->addresses,
	};

	if (!wants_stacks(session))
		return NULL;
	session->stacks = mt_stacks_create();
	session->frames = mt_frames_create(&namer);
	if (!session->stacks || !session->frames)
		return mt_error_nomem();
	session->unwinding = mt_unwinding_create(mt_naming_kernel_image(session->naming),
						 session->stacks, session->frames);
	session->pipeline = mt_pipeline_create(session->pool, &walker);
	return session->unwinding && session->pipeline ? NULL : mt_error_nomem();
}

struct mt_error *mt_session_open(const struct mt_session_options *options, struct mt_session **out)
{
	struct mt_naming_options naming = {.kallsyms = options->kallsyms,
					   .symfs = options->symfs,
					   .debug_dir = options->debug_dir,
					   .demangle = !options->no_demangle,
					   .inlined = options->inlined,
					   .lines = options->lines};
	MT_CLEANUP(mt_session_destroy_p) struct mt_session *session = calloc(1, sizeof(*session));
	struct mt_error *err;

	if (!session)
		return mt_error_nomem();
	session->options = options;
	session->strings = mt_strings_create();
	session->pool = mt_pool_create(options->workers ? options->workers : 1);
	if (!session->strings || !session->pool)
		return mt_error_nomem();
	err = mt_naming_create(&naming, &session->naming);
	err = err ? err : open_files(session);
	err = err ? err : list_recordings(session);
	err = err ? err : prepare_stacks(session);
	if (err)
		return err;
	*out = MT_TAKE(session);
	return NULL;
}

static void drop_local(struct mt_session *session)
{
	while (session->local.count)
		free(session->local.items[--session->local.count]);
}

void mt_session_destroy(struct mt_session *session)
{
	if (!session)
		return;
	mt_pipeline_destroy(session->pipeline);
	mt_unwinding_destroy(session->unwinding);
	mt_frames_destroy(session->frames);
	mt_stacks_destroy(session->stacks);
	mt_spaces_destroy(session->spaces);
	mt_naming_destroy(session->naming);
	mt_facts_deinit(&session->facts);
	mt_strings_destroy(session->strings);
	for (size_t i = 0; i < session->readers.count; i++)
		mt_reader_destroy(session->readers.items[i]);
	mt_pool_destroy(session->pool);
	mt_array_deinit(&session->readers);
	drop_local(session);
	mt_array_deinit(&session->local);
	mt_array_deinit(&session->verdicts);
	mt_map64_deinit(&session->by_index);
	mt_map64_deinit(&session->code);
	free(session);
}

/* ---- From one recording to the next ---- */

/* Of the present recording: its index among all of them, counted over the files before. */
static size_t recording_index(const struct mt_session *session)
{
	size_t index = session->recording;

	for (size_t i = 0; i < session->reader; i++)
		index += mt_reader_recordings(session->readers.items[i]);
	return index;
}

static struct mt_facts_recording *present(struct mt_session *session)
{
	return &session->facts.recordings.items[recording_index(session)];
}

static void set_bounds(struct mt_session *session, struct mt_facts_recording *facts)
{
	const struct mt_recording *reading = facts->reading;

	if (reading->has_end && (!facts->start || reading->end.start < facts->start))
		facts->start = reading->end.start;
	if (!facts->start)
		facts->start = reading->first_time;
	facts->end = reading->has_end ? reading->end.end : reading->last_time;
	if (facts->end < facts->start) /* cut before its first record of a time */
		facts->end = facts->start;
	mt_timespan_apply(&session->options->selection->time, facts->start, facts->end,
			  &session->from, &session->to);
}

static struct mt_error *begin_recording(struct mt_session *session)
{
	struct mt_error *err =
		mt_reader_rewind(session->readers.items[session->reader], session->recording);

	if (err)
		return err;
	mt_spaces_destroy(session->spaces);
	session->spaces = mt_spaces_create(mt_naming_images(session->naming), session->strings,
					   &session->code);
	if (!session->spaces)
		return mt_error_nomem();
	mt_map64_deinit(&session->by_index);
	drop_local(session);
	session->reading = true;
	session->read_all = false;
	set_bounds(session, present(session));
	return NULL;
}

static struct mt_error *finish_recording(struct mt_session *session)
{
	struct mt_facts_recording *facts = present(session);

	facts->finished = true;
	facts->tasks = mt_spaces_tasks(session->spaces);
	facts->processes = mt_spaces_processes(session->spaces);
	session->reading = false;
	session->recording++;
	if (session->recording == mt_reader_recordings(session->readers.items[session->reader])) {
		session->recording = 0;
		session->reader++;
	}
	if (session->reader < session->readers.count || !session->options->images)
		return NULL;
	return mt_naming_list_images(session->naming, session->frames, &session->code,
				     &session->facts);
}

/* ---- The records of STATE ---- */

/* Borrows text as a terminated string; NULL out of memory. */
static const char *keep(struct mt_session *session, struct mt_text text)
{
	uint32_t id = mt_strings_intern(session->strings, text.bytes ? text.bytes : "", text.size);

	return id == MT_STRING_NONE ? NULL : mt_strings_get(session->strings, id);
}

/* Where a key's value goes: the last one told holds. NULL out of memory. */
static struct mt_facts_pair *info_pair(struct mt_facts_recording *facts, const char *key)
{
	for (size_t i = 0; i < facts->info.count; i++) {
		if (!strcmp(facts->info.items[i].key, key))
			return &facts->info.items[i];
	}
	return mt_array_push(&facts->info);
}

static bool take_info(struct mt_session *session, const struct mt_info_record *record)
{
	struct mt_facts_recording *facts = present(session);
	struct mt_facts_pair told = {keep(session, record->key), keep(session, record->value)};
	struct mt_facts_pair *pair = told.key && told.value ? info_pair(facts, told.key) : NULL;

	if (!pair)
		return false;
	*pair = told;
	if (!strcmp(pair->key, "boot-id"))
		facts->this_boot = mt_naming_is_this_boot(session->naming, pair->value);
	if (!strcmp(pair->key, "kernel-symbol")) /* comes last */
		facts->this_boot =
			mt_host_kernel_is(mt_facts_info(facts, "kernel"),
					  mt_facts_info(facts, "kernel-build-id"), pair->value);
	return true;
}

static bool take_note(struct mt_session *session, const struct mt_note_record *record)
{
	struct mt_facts_recording *facts = present(session);
	const char *text = keep(session, record->text);
	struct mt_facts_note *note = text ? mt_array_push(&facts->notes) : NULL;

	if (note)
		*note = (struct mt_facts_note){record->level, text};
	return note;
}

static bool take_clock(struct mt_session *session, const struct mt_clock_record *record)
{
	struct mt_facts_recording *facts = present(session);
	const struct mt_recording *reading = facts->reading;

	if (facts->start_utc)
		return true;
	/* The first anchor is taken before the events are opened. */
	if (record->recording &&
	    (!reading->first_time || record->recording <= reading->first_time) && !reading->has_end)
		facts->start = record->recording;
	set_bounds(session, facts);
	facts->start_utc = record->realtime + (facts->start - record->recording);
	return true;
}

static struct mt_facts_event *same_event(struct mt_facts *facts, const struct mt_facts_event *event)
{
	for (size_t i = 0; i < facts->events.count; i++) {
		struct mt_facts_event *known = &facts->events.items[i];

		if (known->role == event->role && !strcmp(known->name, event->name) &&
		    !strcmp(known->alias, event->alias))
			return known;
	}
	return NULL;
}

static bool wants_event(const struct mt_session *session, const struct mt_facts_event *event)
{
	const struct mt_match *match = session->options->selection->events;

	return event->role == MT_ROLE_SAMPLE &&
	       (mt_match_text(match, event->alias) || mt_match_text(match, event->name));
}

static bool take_event(struct mt_session *session, const struct mt_event_record *record)
{
	struct mt_facts_event event =
				      {
					      .name = keep(session, record->name),
					      .alias = keep(session, record->alias.size
									     ? record->alias
									     : record->name),
					      .unit = keep(session, record->unit),
					      .role = record->role,
				      },
			      *known;
	struct local_event **local;
	uint64_t index;

	if (!event.name || !event.alias || !event.unit)
		return false;
	if (mt_map64_get(&session->by_index, record->index, &index))
		return true;
	if (!mt_attr_decode(record->attr.bytes, record->attr.size, &event.attr))
		return true; /* its records count as undecodable */
	known = same_event(&session->facts, &event);
	if (!known) {
		known = mt_array_push(&session->facts.events);
		if (!known)
			return false;
		*known = event;
	}
	local = mt_array_push(&session->local);
	if (local)
		*local = malloc(sizeof(**local));
	if (!local || !*local)
		return false;
	**local = (struct local_event){
		.event = (uint32_t)(known - session->facts.events.items),
		.role = record->role,
		.attr = event.attr,
		.weight = 1,
		.call = mt_call_number(event.name),
		.wanted = wants_event(session, &event),
	};
	return mt_map64_put(&session->by_index, record->index, session->local.count - 1);
}

static struct local_event *local_event(struct mt_session *session, uint32_t index)
{
	uint64_t at;

	return mt_map64_get(&session->by_index, index, &at) ? session->local.items[at] : NULL;
}

static bool take_loss(struct mt_session *session, const struct mt_loss_record *record)
{
	struct mt_facts_loss *loss = mt_array_push(&present(session)->losses);
	const struct local_event *event = local_event(session, record->event);

	if (!loss)
		return false;
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
	return true;
}

static bool take_weight(struct mt_session *session, const struct mt_weight_record *record)
{
	struct local_event *event = local_event(session, record->event);

	if (event)
		event->weight = (double)record->numerator / (double)record->denominator;
	return true;
}

/* Decodes a record with get and hands it to take; a body too short is counted and left out. */
#define TAKE(member, get, take) \
	(get(record->body, record->size, &r.member) ? (take) : count_undecodable(session))

static bool count_undecodable(struct mt_session *session)
{
	session->facts.undecodable++;
	return true;
}

static bool take_map(struct mt_session *session, const struct mt_map_record *record)
{
	present(session)->maps++;
	return mt_spaces_add_map(session->spaces, record);
}

/* Decodes and applies a record that is no sample; false out of memory. */
static bool take_state(struct mt_session *session, const struct mt_record *record)
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
		struct mt_note_record note;
	} r;

	switch (record->type) {
	case MT_RECORD_INFO:
		return TAKE(info, mt_info_get, take_info(session, &r.info));
	case MT_RECORD_EVENT:
		return TAKE(event, mt_event_get, take_event(session, &r.event));
	case MT_RECORD_CLOCK:
		return TAKE(clock, mt_clock_get, take_clock(session, &r.clock));
	case MT_RECORD_TASK:
		return TAKE(task, mt_task_get, mt_spaces_add_task(session->spaces, &r.task));
	case MT_RECORD_MAP:
		return TAKE(map, mt_map_get, take_map(session, &r.map));
	case MT_RECORD_IMAGE: /* may change the images that are being read */
		if (session->pipeline)
			mt_pipeline_settle(session->pipeline);
		return TAKE(image, mt_image_get, mt_naming_add_image(session->naming, &r.image));
	case MT_RECORD_LOSS:
		return TAKE(loss, mt_loss_get, take_loss(session, &r.loss));
	case MT_RECORD_WEIGHT:
		return TAKE(weight, mt_weight_get, take_weight(session, &r.weight));
	case MT_RECORD_NOTE:
		return TAKE(note, mt_note_get, take_note(session, &r.note));
	default:
		return true;
	}
}

/* ---- Samples ---- */

static bool frame_matches(struct mt_session *session, uint32_t id)
{
	const struct mt_selection *selection = session->options->selection;
	size_t count;
	const struct mt_frame_name *names = mt_frames_names(session->frames, id, &count);

	for (size_t i = 0; names && i < count; i++) {
		const char *slash = strrchr(names[i].dso, '/');

		if (selection->dsos && !mt_match_text(selection->dsos, names[i].dso) &&
		    !(slash && mt_match_text(selection->dsos, slash + 1)))
			continue;
		if (selection->symbols &&
		    !mt_match_text(selection->symbols,
				   mt_strings_get(mt_frames_strings(session->frames),
						  names[i].name)))
			continue;
		return true;
	}
	return false;
}

static bool stack_matches(struct mt_session *session, uint32_t stack)
{
	size_t count;
	const uint32_t *frames = mt_stacks_get(session->stacks, stack, &count);

	for (size_t i = 0; i < count; i++) {
		if (frame_matches(session, frames[i]))
			return true;
	}
	return false;
}

/*
 * --dso and --symbol, asked once for each distinct stack; false in *wanted where no frame matches.
 */
static bool select_stack(struct mt_session *session, uint32_t stack, bool *wanted)
{
	uint8_t *verdict;

	if (!mt_selection_needs_stacks(session->options->selection))
		return true;
	if (!mt_array_reserve(&session->verdicts, (size_t)stack + 1))
		return false;
	while (session->verdicts.count <= stack)
		session->verdicts.items[session->verdicts.count++] = VERDICT_NONE;
	verdict = &session->verdicts.items[stack];
	if (*verdict == VERDICT_NONE)
		*verdict = stack_matches(session, stack) ? VERDICT_YES : VERDICT_NO;
	*wanted = *verdict == VERDICT_YES;
	return true;
}

static void count_stack(struct mt_session *session, const struct mt_walked *walked)
{
	if (walked->user) {
		session->facts.user_stacks++;
		session->facts.ends[walked->end]++;
	}
	if (walked->kernel && !session->facts.kernel_problem)
		session->facts.kernel_problem =
			mt_naming_kernel_problem(session->naming, present(session)->this_boot);
}

static bool select_sample(const struct mt_session *session, const struct mt_session_sample *sample)
{
	const struct mt_selection *s = session->options->selection;

	return sample->time >= session->from && sample->time < session->to &&
	       mt_numbers_match(&s->pids, sample->task->pid) &&
	       mt_numbers_match(&s->tids, sample->task->tid) &&
	       mt_numbers_match(&s->cpus, (long)(int32_t)sample->kernel->cpu) &&
	       mt_match_text(s->comms, mt_strings_get(session->strings, sample->task->comm));
}

static void count_selected(struct mt_session *session, const struct mt_session_sample *sample)
{
	struct mt_facts_event *event = &session->facts.events.items[sample->event];

	session->facts.selected++;
	event->selected++;
	event->weighted += sample->weight;
	if (!event->first)
		event->first = sample->time;
	event->last = sample->time;
}

/* A decoded sample becomes *out; *wanted tells whether it is one to give. */
static bool take_sample(struct mt_session *session, const struct local_event *event, uint64_t time,
			struct mt_session_sample *out, bool *wanted)
{
	const struct mt_task *task;

	session->facts.events.items[event->event].samples++;
	if (event->role != MT_ROLE_SAMPLE)
		return true;
	session->facts.samples++;
	present(session)->samples++;
	if (!event->wanted)
		return true;
	task = mt_spaces_task(session->spaces, session->sample.pid, session->sample.tid);
	if (!task)
		return false;
	*out = (struct mt_session_sample){
		.event = event->event,
		.recording = (uint32_t)recording_index(session),
		.time = time,
		.weight = event->weight,
		.task = task,
		.space = task->space,
		.attr = &event->attr,
		.kernel = &session->sample,
		.stack = MT_STACK_NONE,
	};
	*wanted = select_sample(session, out);
	return true;
}

/* Of a perf.data file: in a recording of mtrec, LOSS records tell of the same. */
static void count_lost(struct mt_facts_recording *facts, const struct mt_kernel_record *record)
{
	if (record->type == MT_KERNEL_LOST_SAMPLES)
		facts->counted_lost += record->lost;
	else if (record->type == MT_KERNEL_LOST)
		facts->kernel_lost += record->lost;
}

static bool take_kernel_record(struct mt_session *session, const struct mt_attr *attr,
			       const struct mt_kernel_bytes *bytes)
{
	struct mt_kernel_record record;

	if (!mt_kernel_record_decode(attr, bytes->kernel, bytes->kernel_size, &record))
		return count_undecodable(session);
	if (present(session)->reading->foreign)
		count_lost(present(session), &record);
	return mt_spaces_apply(session->spaces, &record);
}

/* KERNEL and SAMPLE. */
static bool take_data(struct mt_session *session, const struct mt_record *record,
		      struct mt_session_sample *out, bool *wanted)
{
	struct mt_kernel_bytes bytes;
	struct mt_dump_apart apart;
	const struct local_event *event;
	bool is_sample = record->type == MT_RECORD_SAMPLE;

	if (!mt_record_kernel_get(record, &bytes) || bytes.kernel_size < 8)
		return count_undecodable(session);
	event = local_event(session, bytes.event);
	if (!event)
		return count_undecodable(session);
	if (!is_sample && mt_get_le32(bytes.kernel) != MT_KERNEL_SAMPLE) {
		if (event->role == MT_ROLE_SIDEBAND)
			session->facts.events.items[event->event].samples++;
		return take_kernel_record(session, &event->attr, &bytes);
	}
	apart = (struct mt_dump_apart){bytes.cut, bytes.dump_asked, bytes.dump, bytes.dump_size};
	if (!mt_sample_decode(&event->attr, bytes.kernel, bytes.kernel_size,
			      is_sample ? &apart : NULL, &session->sample))
		return count_undecodable(session);
	if (event->call >= 0 && !mt_call_is(&session->sample, event->call))
		return true;
	return take_sample(session, event, record->time, out, wanted);
}

static void show_progress(struct mt_session *session, uint64_t time)
{
	const struct mt_facts_recording *facts = present(session);
	double length = (double)(facts->end - facts->start), part = 0;

	if (!session->options->progress || ++session->records % PROGRESS_EVERY)
		return;
	if (time > facts->start && time <= facts->end && length > 0)
		part = (double)(time - facts->start) / length;
	session->options->progress(session->options->progress_context,
				   ((double)recording_index(session) + part) /
					   (double)session->facts.recordings.count);
}

/* Reads on to a sample of this recording that is wanted as far as its stack does not matter. */
static struct mt_error *read_sample(struct mt_session *session, struct mt_session_sample *out,
				    bool *wanted)
{
	struct mt_reader *reader = session->readers.items[session->reader];
	struct mt_record record;
	struct mt_error *err;
	bool have, ok;

	for (*wanted = false; !*wanted;) {
		err = mt_reader_next(reader, &record, &have);
		session->read_all = !have;
		if (err || !have)
			return err;
		record.type &= ~MT_RECORD_CRITICAL;
		show_progress(session, record.time);
		if (record.type == MT_RECORD_KERNEL || record.type == MT_RECORD_SAMPLE)
			ok = take_data(session, &record, out, wanted);
		else
			ok = take_state(session, &record);
		if (!ok)
			return mt_error_nomem();
	}
	return NULL;
}

static struct mt_error *fill_pipeline(struct mt_session *session)
{
	struct mt_reader *reader = session->readers.items[session->reader];
	struct mt_session_sample sample;
	struct mt_error *err;
	bool wanted, known;

	while (!session->read_all && mt_pipeline_has_room(session->pipeline)) {
		err = read_sample(session, &sample, &wanted);
		if (err)
			return err;
		known = mt_naming_knows_kernel(session->naming, present(session)->this_boot);
		if (wanted &&
		    !mt_pipeline_put(session->pipeline, &sample, known, mt_reader_given(reader)))
			return mt_error_nomem();
	}
	return NULL;
}

/* A sample out of the pipeline; *wanted false where the stack's selectors leave it out. */
static bool take_piped(struct mt_session *session, const struct mt_piped *piped,
		       struct mt_session_sample *out, bool *wanted)
{
	*out = piped->sample;
	out->stack =
		mt_unwinding_intern(session->unwinding, piped->map, piped->words, &piped->walked);
	*wanted = true;
	if (out->stack == MT_STACK_NONE || !select_stack(session, out->stack, wanted))
		return false;
	out->user = piped->walked.user;
	out->end = piped->walked.end;
	if (session->options->addresses) {
		out->addresses = mt_walked_addresses(piped->words, &piped->walked);
		out->sources = mt_walked_sources(piped->words, &piped->walked);
	}
	if (*wanted)
		count_stack(session, &piped->walked);
	return true;
}

static struct mt_error *next_piped(struct mt_session *session, struct mt_session_sample *out,
				   bool *wanted, bool *ended)
{
	const struct mt_piped *piped;
	uint64_t released;
	struct mt_error *err = fill_pipeline(session);

	if (err)
		return err;
	if (!mt_pipeline_take(session->pipeline, &piped, &released))
		return mt_error_nomem();
	mt_reader_release(session->readers.items[session->reader], released);
	*ended = !piped && session->read_all;
	if (piped && !take_piped(session, piped, out, wanted))
		return mt_error_nomem();
	return NULL;
}

static struct mt_error *next_plain(struct mt_session *session, struct mt_session_sample *out,
				   bool *wanted, bool *ended)
{
	struct mt_error *err = read_sample(session, out, wanted);

	*ended = session->read_all;
	return err;
}

struct mt_error *mt_session_next(struct mt_session *session, struct mt_session_sample *out,
				 bool *more)
{
	bool wanted = false, ended;
	struct mt_error *err = NULL;

	while (!err && !wanted && session->reader < session->readers.count) {
		if (!session->reading)
			err = begin_recording(session);
		if (err)
			return err;
		ended = false;
		err = session->pipeline ? next_piped(session, out, &wanted, &ended)
					: next_plain(session, out, &wanted, &ended);
		if (!err && ended)
			err = finish_recording(session);
	}
	if (err)
		return err;
	if (wanted)
		count_selected(session, out);
	*more = wanted;
	return NULL;
}

/* ---- What others borrow ---- */

const struct mt_facts *mt_session_facts(const struct mt_session *session)
{
	return &session->facts;
}

struct mt_strings *mt_session_strings(struct mt_session *session)
{
	return session->strings;
}

struct mt_stacks *mt_session_stacks(struct mt_session *session)
{
	return session->stacks;
}

struct mt_frames *mt_session_frames(struct mt_session *session)
{
	return session->frames;
}

const char *mt_session_image_path(const struct mt_session *session, uint32_t image)
{
	const struct mt_image *found = mt_image_set_get(mt_naming_images(session->naming), image);

	return found ? found->identity.path : "[unknown]";
}

const char *mt_session_lines_problem(const struct mt_session *session, const char **path)
{
	return mt_naming_lines_problem(session->naming, path);
}
