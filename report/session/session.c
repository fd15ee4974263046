/*
 * Reads the files of a report, one recording after another, and passes their samples through the
 * pipeline. Single records are handled in statements.c and data_records.c.
 */
#include "report/session/session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/pool.h"
#include "formats/base/strings.h"
#include "formats/reader.h"
#include "formats/reading/carried.h"
#include "formats/records/record.h"
#include "report/names/jit_sources.h"
#include "report/names/naming.h"
#include "report/session/selection.h"
#include "report/session/session_state.h"
#include "report/stacks/frames.h"
#include "report/stacks/kernel_names.h"
#include "report/stacks/pipeline.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stack_ids.h"
#include "report/stacks/stacks.h"
#include "report/stacks/unwind_worker.h"
#include "report/tables/byte_runs.h"
#include "report/tables/facts.h"
#include "symbols/images/image.h"
#include "unwind/return_slots.h"

MT_DEFINE_CLEANUP(mt_session, struct mt_session)

/* A foreign file of this size justifies more than one worker. */
#define LONG ((uint64_t)4 << 30)

/* ---- Opening ---- */

static bool wants_stacks(const struct mt_session *session)
{
	return session->options->stacks || mt_selection_needs_stacks(session->options->selection);
}

/*
 * With one worker, the stack of a sample is walked as soon as the sample is read. The dump has then
 * just been decoded and is still in the CPU's cache. Dumps of a foreign file (not written by mtrec)
 * need no decoding.
 */
static enum mt_reader_dumps wanted_dumps(const struct mt_session *session)
{
	if (!wants_stacks(session))
		return MT_DUMPS_NONE;
	return mt_pool_size(session->pool) == 1 ? MT_DUMPS_PASSING : MT_DUMPS_WITH_RECORDS;
}

/*
 * For a foreign file, a second worker saves a quarter of the time and costs a fifth more CPU time.
 * That is worth it only for a file so large that it saves a second.
 */
static enum mt_pipeline_way pipeline_way(struct mt_session *session)
{
	const struct mt_recording *reading = mt_session_present(session)->reading;

	if (reading->foreign && (mt_pool_size(session->pool) == 1 ||
				 (session->options->spare_workers && reading->raw_bytes < LONG)))
		return MT_PIPELINE_ALONE;
	return mt_pool_size(session->pool) == 1 ? MT_PIPELINE_AT_ONCE : MT_PIPELINE_WORKERS;
}

static struct mt_error *open_files(struct mt_session *session)
{
	const struct mt_session_growth *growth = session->options->growth;
	const struct mt_reader_options options = {.pool = session->pool,
						  .dumps = wanted_dumps(session),
						  .keep = wants_stacks(session),
						  .before = session->options->before,
						  .growing = growth ? growth->input : NULL};

	for (size_t i = 0; i < session->options->file_count; i++) {
		struct mt_reader *reader;
		struct mt_error *err =
			mt_reader_open(session->options->files[i], &options, &reader);

		if (err)
			return err;
		mt_array_append(&session->readers, reader);
	}
	return NULL;
}

/* One facts entry for each recording of each file, in the order they are read. */
static void list_recordings(struct mt_session *session)
{
	for (size_t i = 0; i < session->readers.count; i++) {
		for (size_t k = 0; k < mt_reader_recordings(session->readers.items[i]); k++) {
			struct mt_facts_recording *facts =
				mt_array_push(&session->facts.recordings);
			struct mt_carried *carried =
				mt_reader_carried(session->readers.items[i], k);

			facts->file = session->options->files[i];
			facts->reading = mt_reader_recording(session->readers.items[i], k);
			if (carried)
				mt_naming_add_carried(session->naming,
						      session->facts.recordings.count - 1, carried);
		}
	}
}

static bool matches_path(const struct mt_match *match, const char *path)
{
	const char *slash = strrchr(path, '/');

	return match && (mt_match_text(match, path) || (slash && mt_match_text(match, slash + 1)));
}

/* The class that --ours or --not-ours gives to a path; MT_CODE_NONE if neither applies. */
static enum mt_code_class class_of_path(void *context, const char *path)
{
	const struct mt_session_options *options = ((struct mt_session *)context)->options;

	if (matches_path(options->ours, path))
		return MT_CODE_OURS;
	return matches_path(options->not_ours, path) ? MT_CODE_LIBRARY : MT_CODE_NONE;
}

static const struct mt_symbol *name_frame(void *context, const struct mt_frame_key *key)
{
	struct mt_session *session = context;

	return key->flags & MT_FRAME_REPORTED ? mt_session_reported_name(session, key)
					      : mt_naming_name(session->naming, key);
}

static void prepare_stacks(struct mt_session *session)
{
	const struct mt_session_options *options = session->options;
	struct mt_namer namer = {.name = name_frame, .context = session};
	struct mt_walker_options walker = {
		.method = options->method,
		.max_frames = options->max_frames,
		.addresses = options->addresses,
		.joining = options->joining,
		.scan = options->scan,
	};

	if (!wants_stacks(session))
		return;
	session->frames = mt_frames_create(&namer);
	mt_frames_set_owner(session->frames, &(struct mt_frame_owner){class_of_path, session});
	session->stacks = mt_stacks_create();
	session->stack_ids = mt_stack_ids_create(mt_naming_kernel(session->naming), session->stacks,
						 session->frames);
	session->pipeline = mt_pipeline_create(session->pool, &walker);
}

struct mt_error *mt_session_open(const struct mt_session_options *options, struct mt_session **out)
{
	struct mt_naming_options naming = {.kallsyms = options->kallsyms,
					   .symfs = &options->symfs,
					   .prefer_local = options->prefer_local,
					   .debug_dir = options->debug_dir,
					   .debuginfod = options->debuginfod,
					   .demangle = !options->no_demangle,
					   .inlined = options->inlined,
					   .lines = options->lines};
	MT_CLEANUP(mt_session_destroy_p) struct mt_session *session = mt_alloc(1, sizeof(*session));
	struct mt_error *err;

	session->options = options;
	session->strings = mt_strings_create();
	session->event_keys = mt_byte_runs_create();
	session->pool = mt_pool_create(options->workers ? options->workers : 1);
	err = mt_naming_create(&naming, &session->naming);
	err = err ? err : open_files(session);
	if (err)
		return err;
	list_recordings(session);
	prepare_stacks(session);
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
	mt_return_slots_destroy(session->returns);
	mt_stack_ids_destroy(session->stack_ids);
	if (session->reported)
		mt_byte_runs_destroy(session->reported);
	mt_array_deinit(&session->reported_names);
	mt_array_deinit(&session->reported_frames);
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
	mt_array_deinit(&session->members);
	mt_entry_ends_deinit(&session->entry_ends);
	mt_map64_deinit(&session->counted);
	mt_array_deinit(&session->verdicts);
	mt_map64_deinit(&session->by_index);
	mt_map64_deinit(&session->info_by_key);
	mt_map64_deinit(&session->code);
	mt_byte_runs_destroy(session->event_keys);
	mt_array_deinit(&session->observers);
	mt_array_deinit(&session->deferred.words);
	free(session);
}

/* ---- Changing recordings ---- */

/*
 * When a process of this boot began, in seconds since 1970, minus a tolerance for differing clocks;
 * 0 if unknown. start_time is in ns of the recording's clock if the process was forked during the
 * recording. Else it is in clock ticks since boot, which are much smaller numbers. The command that
 * mtrec started has no start time: it began with the recording.
 */
static int64_t began(const struct mt_facts_recording *facts, uint64_t start_time)
{
	const int64_t apart = 2;
	struct timespec up;

	if (!facts->start_utc || (!start_time && facts->reading->foreign))
		return 0;
	if (!start_time)
		start_time = facts->start;
	if (start_time >= facts->start)
		return (int64_t)((facts->start_utc + (start_time - facts->start)) / 1000000000) -
		       apart;
	if (clock_gettime(CLOCK_BOOTTIME, &up))
		return 0;
	return time(NULL) - up.tv_sec + (int64_t)start_time / sysconf(_SC_CLK_TCK) - apart;
}

/*
 * The perf map file of a process. A file older than the process was left by an earlier process with
 * the same pid, and would give wrong names.
 */
static struct mt_image *jit_image(void *context, int32_t pid, uint64_t time)
{
	struct mt_session *session = context;
	const struct mt_facts_recording *facts = mt_session_present(session);
	const struct mt_task *task = mt_spaces_find(session->spaces, pid);

	return mt_jit_sources_perf_map(mt_naming_jit(session->naming), session->index,
				       !facts->this_boot ? MT_JIT_NO_LOCAL
				       : task		 ? began(facts, task->space->start_time)
							 : 0,
				       pid, time);
}

/* Times in a jitdump are in CLOCK_MONOTONIC. */
static struct mt_image *jitdump_image(void *context, const struct mt_image_identity *dump,
				      uint64_t time, struct mt_image *unreported)
{
	struct mt_session *session = context;
	const struct mt_facts_recording *facts = mt_session_present(session);
	bool same = facts->reading->header.clock == CLOCK_MONOTONIC;
	struct mt_jitdump_wanted wanted = {.recording = session->index,
					   .identity = dump,
					   .time = time,
					   .unreported = unreported};
	int64_t ahead = same ? 0 : facts->ahead;

	if (same || facts->ahead_known)
		wanted.ahead = &ahead;
	return mt_jit_sources_jitdump(mt_naming_jit(session->naming), &wanted);
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
	mt_spaces_set_jit(session->spaces,
			  &(struct mt_spaces_jit){jit_image, jitdump_image, session});
	mt_map64_deinit(&session->by_index);
	mt_map64_deinit(&session->info_by_key);
	mt_map64_deinit(&session->counted);
	session->members.count = session->next_member = 0;
	session->counted_stack = session->counted_sample = 0;
	drop_local(session);
	mt_naming_begin(session->naming);
	mt_kernel_names_begin(mt_naming_kernel(session->naming), session->index);
	if (session->pipeline)
		mt_pipeline_begin(session->pipeline, pipeline_way(session));
	if (session->returns)
		mt_return_slots_clear(session->returns);
	session->reading = true;
	session->read_all = session->paused = session->has_data = false;
	mt_session_set_bounds(session, mt_session_present(session));
	return NULL;
}

/* Frees the state for unwinding after the last sample, to have more memory for names and lines. */
static void end_stacks(struct mt_session *session)
{
	mt_pipeline_destroy(MT_TAKE(session->pipeline));
	mt_stack_ids_destroy(MT_TAKE(session->stack_ids));
}

static void finish_recording(struct mt_session *session)
{
	struct mt_facts_recording *facts = mt_session_present(session);

	mt_session_deliver(session, UINT64_MAX, MT_STACK_NONE, false);
	mt_session_show(session, &(struct mt_observed){.kind = MT_OBSERVED_END});
	facts->finished = true;
	facts->tasks = mt_spaces_tasks(session->spaces);
	facts->processes = mt_spaces_processes(session->spaces);
	facts->in_part = mt_spaces_in_part(session->spaces);
	session->reading = false;
	session->index++;
	session->recording++;
	if (session->recording == mt_reader_recordings(session->readers.items[session->reader])) {
		session->recording = 0;
		session->reader++;
	}
	if (session->reader < session->readers.count)
		return;
	end_stacks(session);
	mt_entry_ends_report(&session->entry_ends, session->frames, &session->facts);
	if (session->options->images)
		mt_naming_list_images(session->naming, session->frames, &session->code,
				      &session->facts);
}

/* ---- Samples ---- */

static void count_entry_end(struct mt_session *session, uint32_t stack, uint32_t reason)
{
	size_t depth;
	const uint32_t *ids = mt_stacks_get(session->stacks, stack, &depth);
	uint32_t outermost = depth ? ids[depth - 1] : MT_FRAME_NONE;

	if (reason != MT_END_ROOT && depth)
		mt_entry_ends_add(
			&session->entry_ends, outermost, reason,
			mt_session_image_path(session,
					      mt_frames_key(session->frames, outermost)->image));
}

static void count_stack(struct mt_session *session, uint32_t stack, const struct mt_walked *walked)
{
	if (walked->user) {
		session->facts.user_stacks++;
		session->facts.ends[walked->end]++;
		session->facts.walked_ends[walked->walked_end]++;
		count_entry_end(session, stack, walked->end);
	}
	if (walked->kernel && !session->facts.kernel_problem)
		session->facts.kernel_problem =
			mt_kernel_names_problem(mt_naming_kernel(session->naming));
}

/* Counts a selected sample. A sample and the members of its group count as one. */
static void count_selected(struct mt_session *session, const struct mt_session_sample *sample)
{
	struct mt_facts_event *event = &session->facts.events.items[sample->event];

	session->facts.selected += !sample->member || session->counted_sample != sample->serial;
	session->counted_sample = sample->serial;
	event->selected++;
	event->weighted += sample->weight;
	if (!event->first)
		event->first = sample->time;
	event->last = sample->time;
}

static struct mt_error *fill_pipeline(struct mt_session *session)
{
	struct mt_reader *reader = session->readers.items[session->reader];
	struct mt_session_sample sample;
	struct mt_error *err;
	bool wanted;

	while (!session->read_all && !session->paused && mt_pipeline_has_room(session->pipeline)) {
		err = mt_session_read_sample(session, &sample, &wanted);
		if (err)
			return err;
		if (wanted)
			mt_pipeline_put(session->pipeline, &sample, mt_reader_given(reader));
	}
	return NULL;
}

/* Takes a sample from the pipeline; false if the stack selectors reject it. */
static bool take_piped(struct mt_session *session, const struct mt_piped *piped,
		       struct mt_session_sample *out)
{
	bool wanted;

	*out = piped->sample;
	if (out->seed)
		return false;
	out->stack =
		mt_stack_ids_intern(session->stack_ids, piped->map, piped->words, &piped->walked);
	mt_stacks_set_program(session->stacks, out->stack, out->space->exe);
	mt_stacks_set_joined(session->stacks, out->stack, piped->walked.joined);
	wanted = mt_session_choose_stack(session, out->stack);
	out->user = piped->walked.user;
	out->end = piped->walked.end;
	out->walked_end = piped->walked.walked_end;
	out->withheld = piped->walked.withheld;
	if (session->options->addresses) {
		out->addresses = mt_walked_addresses(piped->words, &piped->walked);
		out->pcs = piped->words->items + piped->walked.pcs;
		out->kernel_frames = piped->walked.kernel;
		out->frames = piped->walked.count;
		out->sources = mt_walked_sources(piped->words, &piped->walked);
	}
	if (wanted && !(out->member && session->counted_stack == out->serial)) {
		session->counted_stack = out->serial;
		count_stack(session, out->stack, &piped->walked);
	}
	if (!out->member)
		mt_session_deliver(session, out->serial, out->stack, wanted);
	return wanted;
}

/* Called when all complete records have been read: waits until the file grows or ends. */
static struct mt_error *wait_for_more(struct mt_session *session)
{
	const struct mt_session_growth *growth = session->options->growth;
	struct mt_error *err = growth->wait(growth->context, session, &session->ending);

	session->paused = false;
	if (err || !session->ending)
		return err;
	mt_reader_finish(session->readers.items[session->reader]);
	mt_session_present(session)->growing = growth->update;
	mt_session_set_bounds(session, mt_session_present(session));
	return NULL;
}

bool mt_session_has_reported(const struct mt_session *session, bool pairs)
{
	for (size_t i = 0; i < session->facts.recordings.count; i++) {
		const struct mt_recording *r = session->facts.recordings.items[i].reading;

		if (pairs ? r->pairs : r->reported)
			return true;
	}
	return false;
}

bool mt_session_grows(const struct mt_session *session)
{
	return session->options->growth;
}

struct mt_error *mt_session_advance(struct mt_session *session, struct mt_reader_news *out)
{
	struct mt_error *err = mt_reader_advance(session->readers.items[session->reader], out);

	if (err)
		return err;
	session->earlier |= out->earlier;
	out->earlier = session->earlier;
	return NULL;
}

static struct mt_error *next_piped(struct mt_session *session, struct mt_session_sample *out,
				   bool *wanted, bool *ended)
{
	const struct mt_piped *piped;
	uint64_t released;
	struct mt_error *err = fill_pipeline(session);

	*ended = false;
	if (err)
		return err;
	if (session->paused && !session->options->growth->at_once)
		return wait_for_more(session);
	mt_pipeline_take(session->pipeline, &piped, &released);
	mt_reader_release(session->readers.items[session->reader], released);
	*ended = !piped && session->read_all;
	*wanted = piped && take_piped(session, piped, out);
	return !piped && session->paused ? wait_for_more(session) : NULL;
}

static struct mt_error *next_plain(struct mt_session *session, struct mt_session_sample *out,
				   bool *wanted, bool *ended)
{
	struct mt_error *err = mt_session_read_sample(session, out, wanted);

	*ended = session->read_all;
	if (!err && *wanted) {
		*wanted =
			out->stack == MT_STACK_NONE || mt_session_choose_stack(session, out->stack);
		mt_session_deliver(session, out->serial, out->stack, *wanted);
	}
	return !err && session->paused ? wait_for_more(session) : err;
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
		err = session->pipeline && !mt_session_present(session)->reading->reported
			      ? next_piped(session, out, &wanted, &ended)
			      : next_plain(session, out, &wanted, &ended);
		if (!err && ended)
			finish_recording(session);
	}
	if (err)
		return err;
	*more = wanted;
	if (wanted) {
		count_selected(session, out);
		mt_session_give(session, out);
	}
	return NULL;
}

struct mt_error *mt_session_read(struct mt_session *session,
				 void (*take)(void *context,
					      const struct mt_session_sample *sample),
				 void *context)
{
	struct mt_session_sample sample;
	bool more = true;

	while (more) {
		struct mt_error *err = mt_session_next(session, &sample, &more);

		if (err)
			return err;
		if (more && take)
			take(context, &sample);
	}
	return NULL;
}

/* ---- Borrowed tables ---- */

const struct mt_selection *mt_session_selection(const struct mt_session *session)
{
	return session->options->selection;
}

const struct mt_facts *mt_session_facts(const struct mt_session *session)
{
	return &session->facts;
}

void mt_session_add_unseen(struct mt_session *session, const struct mt_facts_unseen *unseen)
{
	mt_facts_add_unseen(&session->facts, unseen);
}

static void keep_most(uint64_t *known, uint64_t count)
{
	*known = count > *known ? count : *known;
}

/*
 * Several analyses of blocks in one session count the same events, so their counts are not added:
 * the largest is kept.
 */
void mt_session_add_blocks(struct mt_session *session, const struct mt_facts_blocks *blocks)
{
	struct mt_facts_blocks *known = &session->facts.blocks;

	keep_most(&known->unknown, blocks->unknown);
	keep_most(&known->twice, blocks->twice);
	keep_most(&known->unseen_frees, blocks->unseen_frees);
	keep_most(&known->unreadable, blocks->unreadable);
	known->unprobed = blocks->unprobed ? blocks->unprobed : known->unprobed;
	if (blocks->one_in_most > known->one_in_most)
		known->one_in_most = blocks->one_in_most;
	if (blocks->one_in_least &&
	    (!known->one_in_least || blocks->one_in_least < known->one_in_least))
		known->one_in_least = blocks->one_in_least;
}

void mt_session_add_durations(struct mt_session *session,
			      const struct mt_facts_durations *durations)
{
	session->facts.durations.unbegun += durations->unbegun;
	session->facts.durations.unended += durations->unended;
}

void mt_session_add_ended(struct mt_session *session)
{
	session->facts.ended = true;
}

uint32_t mt_session_cgroup(const struct mt_session *session, int32_t tid)
{
	const struct mt_task *task = mt_spaces_find(session->spaces, tid);

	return task ? task->space->cgroup : 0;
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

struct mt_naming *mt_session_naming(struct mt_session *session)
{
	return session->naming;
}

uint32_t mt_session_image_count(const struct mt_session *session)
{
	return (uint32_t)mt_image_set_count(mt_naming_images(session->naming));
}

const char *mt_session_image_path(const struct mt_session *session, uint32_t image)
{
	const struct mt_image *found = mt_image_set_get(mt_naming_images(session->naming), image);

	return found ? found->identity.path : "[unknown]";
}

const char *mt_session_image_shown(const struct mt_session *session, uint32_t image)
{
	const struct mt_image *found = mt_image_set_get(mt_naming_images(session->naming), image);

	return found ? mt_image_shown(found) : "[unknown]";
}

const char *mt_session_lines_problem(const struct mt_session *session, const char **path)
{
	return mt_naming_lines_problem(session->naming, path);
}

/* Prints, for each recording, how many of its carried files could not be read, and why. */
static void print_unread(const struct mt_session *session, const char *prefix, FILE *to)
{
	for (size_t i = 0; i < session->readers.count; i++) {
		struct mt_reader *reader = session->readers.items[i];

		for (size_t k = 0; k < mt_reader_recordings(reader); k++) {
			const struct mt_carried *carried = mt_reader_carried(reader, k);
			const char *why;
			size_t unread = carried ? mt_carried_unread(carried, &why) : 0;

			if (unread)
				fprintf(to, "%s%zu carried file%s could not be read: %s\n", prefix,
					unread, unread == 1 ? "" : "s", why);
		}
	}
}

void mt_session_print_missing_names(const struct mt_session *session, const char *prefix, FILE *to)
{
	print_unread(session, prefix, to);
	mt_naming_print_missing(session->naming, prefix, to);
}
