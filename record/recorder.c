/*
 * The course of a recording. Everything that can fail is done before the first event is enabled;
 * from then on the recorder only ends early when its output fails, and says so.
 */
#include "record/recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/chunk.h"
#include "formats/record.h"
#include "record/cgroup.h"
#include "record/clock.h"
#include "record/command.h"
#include "record/control.h"
#include "record/drain.h"
#include "record/features.h"
#include "record/filter.h"
#include "record/governor.h"
#include "record/guest.h"
#include "record/host.h"
#include "record/limits.h"
#include "record/opened.h"
#include "record/options.h"
#include "record/output.h"
#include "record/pack.h"
#include "record/perf_event.h"
#include "record/plan.h"
#include "record/spool.h"
#include "record/state.h"
#include "record/stats.h"
#include "record/targets.h"
#include "record/task_filter.h"
#include "record/throttle.h"
#include "record/tracepoints.h"
#include "record/twins.h"
#include "record/waiting.h"

#define RING_DEFAULT ((size_t)16 << 20)
#define MARK_NS 500000000ull /* everything is written out this often */
#define FLUSH_MS 200	     /* a drain that has not handed everything on by then has no room to */
#define TICK_NS 100000000ull
#define ANCHOR_NS 60000000000ull

/* What was said before there was a recording, or room in it, to say it in. */
struct waiting_note {
	uint32_t level;
	char *text;
};

struct recorder {
	const struct mt_record_options *options;
	const struct mt_recorder_voice *voice;
	struct mt_perf_features features;
	struct mt_clock clock;
	struct mt_tracepoints *tracepoints;
	struct mt_plan *plan;
	struct mt_number_list cpus;
	struct mt_command command;
	struct mt_opened opened;
	int output;
	struct mt_waiting waiting;
	struct mt_spool *spool;
	struct mt_pack *pack;
	struct mt_stream_config stream_config;
	MT_ARRAY(struct mt_drain *) drains;
	struct mt_governor *governor;
	struct mt_control control;
	struct mt_task_filter *filter;
	struct mt_memory_share memory;
	int oom_adj;
	bool locked, populated;
	int cgroup;
	uint64_t started, ended, next_mark, next_anchor;
	uint64_t next_tick, ticked;	/* of the governor; samples by then */
	uint64_t samples_from, stop_at; /* -D and --duration; UINT64_MAX: not by the clock */
	bool output_failed;
	MT_ARRAY(struct waiting_note) waiting_notes;
};

/* Puts a NOTE into the recording, now or as soon as there is one. Takes text. */
static void put_note(struct recorder *r, uint32_t level, char *text)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};
	struct mt_note_record note = {.level = level, .text = {text, strlen(text)}};
	struct waiting_note *waiting;

	if (r->spool && mt_state_begin(&state)) {
		(void)mt_state_put(&state, mt_note_put, &note);
		mt_state_flush(&state);
		free(text);
		return;
	}
	waiting = mt_array_push(&r->waiting_notes);
	if (waiting)
		*waiting = (struct waiting_note){level, text};
	else
		free(text);
}

static void put_waiting_notes(struct recorder *r)
{
	__typeof__(r->waiting_notes) notes = r->waiting_notes;

	memset(&r->waiting_notes, 0, sizeof(r->waiting_notes));
	for (size_t i = 0; i < notes.count; i++)
		put_note(r, notes.items[i].level, notes.items[i].text);
	mt_array_deinit(&notes);
}

/* Levels 0 and 1 stand in the recording too. */
static __attribute__((format(printf, 3, 4))) void say(struct recorder *r, int level,
						      const char *format, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	if (!text)
		return;
	r->voice->say(r->voice->context, level, text);
	if (level <= 1)
		put_note(r, (uint32_t)level, text);
	else
		free(text);
}

/* What this kernel lacks goes into the recording always, but to the terminal with -v only. */
static void note_features(struct recorder *r)
{
	size_t count;
	const struct mt_feature *rows = mt_feature_rows(&count);

	for (size_t i = 0; i < count; i++) {
		char *text;

		if (mt_feature_has(&r->features, &rows[i]) ||
		    asprintf(&text, "this kernel gives us no %s (%s): %s", rows[i].name,
			     rows[i].since, rows[i].cost) < 0)
			continue;
		r->voice->say(r->voice->context, 2, text);
		put_note(r, 0, text);
	}
}

static void say_plan(struct recorder *r)
{
	for (size_t i = 0; i < r->plan->events.count; i++) {
		const struct mt_planned_event *event = &r->plan->events.items[i];
		MT_CLEANUP_FREE char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		say(r, 2, "event %zu: %s (%s)", i, event->name, event->alias);
		if (out) {
			mt_perf_print_attr(&event->attr, out);
			fclose(out);
			say(r, 3, "%s", text);
		}
	}
}

static struct mt_throttle_limits throttle_limits(const struct mt_record_options *options)
{
	return (struct mt_throttle_limits){.budget = options->budget / 100,
					   .max_rate = (double)options->max_rate};
}

/*
 * Twins cost a file for each thread, CPU and event: for running threads only where a limit asks for
 * them.
 */
static struct mt_error *plan_twins(struct recorder *r)
{
	struct mt_throttle_limits limits = throttle_limits(r->options);
	bool limited = limits.budget > 0 || limits.max_rate > 0;

	if (mt_targets_are_tasks(r->options) && !limited)
		return NULL;
	r->plan->start_level = mt_throttle_start(&limits);
	return mt_plan_add_twins(r->plan, limited);
}

/* What the kernel can do, and what to open. */
static struct mt_error *make_plan(struct recorder *r)
{
	struct mt_tracepoint_source source = {NULL, mt_tracepoints_find};
	struct mt_error *err = mt_features_probe(&r->features);

	if (err)
		return err;
	note_features(r);
	if (!mt_clock_open(&r->features, &r->clock))
		say(r, 1,
		    "the kernel's clock cannot be related to any other: times of day are unknown");
	err = mt_tracepoints_create(&r->features, r->options->tracepoint_ids, &r->tracepoints);
	if (err)
		return err;
	source.context = r->tracepoints;
	err = mt_plan_create(r->options, &r->features, &source, &r->plan);
	say(r, 2, "tracepoints: %s", mt_tracepoints_where(r->tracepoints));
	if (!err)
		err = mt_filter_check(r->plan, &r->features,
				      mt_tracepoints_tracefs(r->tracepoints));
	if (!err)
		err = plan_twins(r);
	if (!err)
		say_plan(r);
	for (size_t i = 0; !err && i < r->plan->notes.count; i++)
		say(r, 1, "%s", r->plan->notes.items[i]);
	return err;
}

/* What would have allowed the rings that were wanted, to the number. */
static void say_shrunk(struct recorder *r, size_t wanted)
{
	size_t each = mt_opened_ring_bytes(r->plan, wanted);
	MT_CLEANUP_FREE char *fix = mt_limits_ring_fix(each, r->opened.cpus.count);

	say(r, 1,
	    "rings of %zu instead of %zu KiB a CPU, all that the mlock budget allows; if records "
	    "are lost, %s",
	    r->opened.ring_size >> 10, wanted >> 10, fix ? fix : "raise ulimit -l");
}

/*
 * More threads than files: whole CPUs are opened, and the drains keep what is of the targets. Takes
 * why; gives it back where that is not allowed either.
 */
static struct mt_error *open_cpus_instead(struct recorder *r, const struct mt_number_list *cpus,
					  size_t ring, struct mt_error *why)
{
	struct mt_error *err = NULL;
	bool paused = r->opened.paused;

	mt_opened_deinit(&r->opened);
	mt_plan_widen(r->plan);
	if (!r->filter)
		err = mt_task_filter_create(NULL, NULL, NULL, &r->filter);
	if (!err && !mt_task_filter_only(r->filter, &r->options->pids, &r->options->tids))
		err = mt_error_nomem();
	if (!err)
		err = mt_opened_init(r->plan, &r->features, cpus, ring, &r->opened);
	r->opened.paused = paused;
	if (!err)
		err = mt_opened_add_cpus(&r->opened);
	if (err) {
		mt_error_destroy(err);
		return why;
	}
	say(r, 1, "whole CPUs are recorded and what is not of the targets is dropped: %s",
	    why->hint ? why->hint : why->message);
	mt_error_destroy(why);
	return NULL;
}

static struct mt_error *open_events(struct recorder *r)
{
	const struct mt_number_list *cpus = r->options->cpus.count ? &r->options->cpus : &r->cpus;
	size_t ring = r->options->ring_size ? r->options->ring_size : RING_DEFAULT;
	struct mt_error *err = mt_opened_init(r->plan, &r->features, cpus, ring, &r->opened);

	if (err)
		return err;
	if (r->opened.cpus.count < r->options->cpus.count)
		say(r, 1, "-C: %zu of these CPUs are not online",
		    r->options->cpus.count - r->opened.cpus.count);
	r->opened.cgroup = r->cgroup;
	r->opened.cgroup_name = r->options->cgroup;
	r->opened.paused = r->options->delay || r->options->start_disabled;
	err = mt_targets_open(r->options, &r->command, &r->opened);
	if (err && err->errnum == EMFILE && mt_targets_are_tasks(r->options))
		err = open_cpus_instead(r, cpus, ring, err);
	if (!err && r->opened.ring_shrunk)
		say_shrunk(r, ring);
	return err;
}

static struct mt_error *create_drains(struct recorder *r)
{
	for (size_t i = 0; i < r->opened.cpus.count; i++) {
		struct mt_opened_cpu *cpu = &r->opened.cpus.items[i];
		struct mt_drain *drain, **slot;
		struct mt_error *err = mt_drain_create(cpu->cpu, (uint32_t)i, cpu->rings,
						       &r->stream_config, &drain);

		if (err)
			return err;
		slot = mt_array_push(&r->drains);
		if (!slot) {
			mt_drain_destroy(drain);
			return mt_error_nomem();
		}
		*slot = drain;
	}
	return NULL;
}

/* One a CPU; each is the next one's buddy. */
static struct mt_error *start_drains(struct recorder *r)
{
	enum mt_priority lowest = MT_PRIORITY_REALTIME;
	struct mt_error *err;

	r->stream_config = (struct mt_stream_config){.plan = r->plan,
						     .ids = &r->opened.ids,
						     .levels = r->opened.levels,
						     .spool = r->spool,
						     .filter = r->filter,
						     .images = r->memory.images,
						     .self = getpid()};
	err = create_drains(r);
	for (size_t i = 0; i < r->drains.count && !err; i++) {
		struct mt_drain *drain = r->drains.items[i];

		err = mt_drain_start(drain, r->drains.items[(i + 1) % r->drains.count]);
		if (mt_drain_priority(drain) > lowest)
			lowest = mt_drain_priority(drain);
	}
	if (!err)
		say(r, 2, "rings of %zu CPUs drained by threads at %s", r->drains.count,
		    mt_drain_priority_name(lowest));
	return err;
}

static size_t count_streams(const struct recorder *r)
{
	size_t streams = 0;

	for (size_t i = 0; i < r->opened.cpus.count; i++) {
		for (int class = 0; class < MT_CLASSES; class ++)
			streams += r->opened.cpus.items[i].rings[class].page != NULL;
	}
	return streams;
}

static struct mt_error *start_writing(struct recorder *r, int argc, char **argv)
{
	struct mt_state head;
	struct mt_error *err = mt_output_open(r->options->output, &r->output);

	if (err)
		return err;
	r->memory = mt_memory_share(r->options->memory, count_streams(r));
	say(r, 2, "memory beside the rings: %llu MiB, of it %zu for the spool",
	    (unsigned long long)(r->memory.bytes >> 20), r->memory.blocks * MT_SPOOL_BLOCK >> 20);
	if (r->options->memory && r->memory.bytes > r->options->memory)
		say(r, 1, "--memory: %zu rings need %llu MiB", count_streams(r),
		    (unsigned long long)(r->memory.bytes >> 20));
	r->spool = mt_spool_create(r->memory.blocks);
	if (!r->spool)
		return mt_error_nomem();
	err = mt_pack_create(r->output, r->options->level, r->spool, r->plan, r->waiting.failed,
			     &r->pack);
	if (err)
		return err;
	if (r->options->max_size)
		mt_pack_set_limit(r->pack, r->options->max_size, r->waiting.full);
	head = (struct mt_state){.spool = r->spool, .type = MT_CHUNK_HEAD};
	mt_host_describe(&head, r->options, &r->clock, r->plan, argc, argv);
	mt_state_flush(&head);
	put_waiting_notes(r);
	return NULL;
}

static struct mt_stream_counts sum_counts(const struct recorder *r)
{
	struct mt_stream_counts sum = {0};

	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_add_counts(r->drains.items[i], &sum);
	return sum;
}

/* Everything up to now goes out, and a MARK behind it says so. */
static void mark(struct recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_MARK};
	struct mt_mark_record record = {0};
	struct mt_stream_counts counts;
	bool whole = true;

	mt_clock_sync(&r->clock);
	record.complete_below = mt_clock_now(&r->clock) - r->clock.within;
	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_flush(r->drains.items[i]);
	for (size_t i = 0; i < r->drains.count; i++)
		whole &= mt_drain_wait(r->drains.items[i], FLUSH_MS);
	r->next_mark = mt_clock_now(&r->clock) + MARK_NS;
	if (!whole || !mt_state_begin(&state))
		return; /* the output takes nothing: nothing is complete */
	counts = sum_counts(r);
	record.samples = counts.samples;
	record.lost = counts.lost;
	(void)mt_state_put(&state, mt_mark_put, &record);
	mt_state_flush(&state);
}

static void anchor(struct recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};

	if (!mt_state_begin(&state))
		return;
	mt_host_anchor(&state, &r->clock);
	mt_state_flush(&state);
	r->next_anchor = mt_clock_now(&r->clock) + ANCHOR_NS;
}

static void put_existing(struct recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};

	mt_targets_put_existing(r->options, &r->clock, &state);
	mt_state_flush(&state);
}

/*
 * Takes what signals came; true where one of them ends the recording. The terminal sends to the
 * command by itself.
 */
static bool take_signals(struct recorder *r)
{
	bool stop = false, by_terminal;
	int number;

	while ((number = mt_waiting_take_signal(&r->waiting, &by_terminal))) {
		if (number == SIGCHLD)
			continue;
		stop = true;
		if (r->command.pid && !r->command.ended && !by_terminal)
			kill(r->command.pid, number);
	}
	return stop;
}

static void pause_samples(struct recorder *r, bool paused, const char *why)
{
	mt_opened_pause(&r->opened, paused);
	r->samples_from = UINT64_MAX;
	say(r, 0, "events %s %.3f s after the start%s", paused ? "disabled" : "enabled",
	    (double)(mt_clock_now(&r->clock) - r->started) / 1e9, why);
}

/* Does as one command of --control says; false where that is to stop. */
static bool obey(struct recorder *r, enum mt_control_command command)
{
	switch (command) {
	case MT_CONTROL_ENABLE:
	case MT_CONTROL_DISABLE:
		pause_samples(r, command == MT_CONTROL_DISABLE, ", by --control");
		break;
	case MT_CONTROL_UNKNOWN:
		say(r, 1, "--control: '%s' is none of enable, disable, ping and stop",
		    r->control.line);
		return true; /* not acknowledged, as perf does */
	default:
		break;
	}
	mt_control_ack(&r->control);
	return command != MT_CONTROL_STOP;
}

/* Reads --control; false where it says stop. */
static bool take_control(struct recorder *r)
{
	enum mt_control_command command;
	bool open = mt_control_read(&r->control);

	while ((command = mt_control_take(&r->control))) {
		if (!obey(r, command))
			return false;
	}
	if (!open) {
		say(r, 1, "--control: nobody writes there any more; events stay %s",
		    r->opened.paused ? "disabled" : "enabled");
		r->waiting.control = -1;
	}
	return true;
}

/* Until something is due by the clock. */
static uint64_t idle_ns(const struct recorder *r)
{
	const uint64_t dues[] = {r->next_mark, r->next_anchor, r->next_tick, r->samples_from,
				 r->stop_at};
	uint64_t now = mt_clock_now(&r->clock), due = UINT64_MAX;

	for (size_t i = 0; i < sizeof(dues) / sizeof(dues[0]); i++)
		due = dues[i] < due ? dues[i] : due;
	return due > now ? due - now : 0;
}

/* Behind the first mark, so that no command starts later for it. */
static void populate(struct recorder *r)
{
	if (r->populated)
		return;
	r->populated = true;
	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_populate(r->drains.items[i]);
	mt_spool_fill_pool(r->spool);
}

/* Often while samples come; on an idle host no more often than marks need us anyway. */
static void tick(struct recorder *r, uint64_t now)
{
	uint64_t samples = sum_counts(r).samples;

	mt_governor_tick(r->governor, now);
	r->next_tick = samples != r->ticked ? now + TICK_NS : UINT64_MAX;
	r->ticked = samples;
}

/* What is due by the clock; false when the recording is to end. */
static bool do_what_is_due(struct recorder *r)
{
	uint64_t now = mt_clock_now(&r->clock);

	if (now >= r->stop_at)
		return false;
	if (now >= r->next_tick || now >= r->next_mark)
		tick(r, now);
	if (now >= r->samples_from)
		pause_samples(r, false, ", as -D says");
	if (now >= r->next_mark) {
		mark(r);
		populate(r);
	}
	if (now >= r->next_anchor)
		anchor(r);
	return true;
}

/* One turn of waiting; false when the recording is to end. */
static bool wait_turn(struct recorder *r)
{
	unsigned causes = mt_waiting_poll(&r->waiting, idle_ns(r));

	if (causes & MT_WAKE_FAILED) {
		r->output_failed = true;
		return false;
	}
	if (causes & MT_WAKE_FULL) {
		say(r, 0, "--max-size: the recording ends here, %.1f s after its start",
		    (double)(mt_clock_now(&r->clock) - r->started) / 1e9);
		return false;
	}
	if ((causes & MT_WAKE_SIGNAL) && take_signals(r))
		return false;
	if (r->command.pid ? mt_command_poll(&r->command) : causes & MT_WAKE_GONE)
		return false;
	if ((causes & MT_WAKE_CONTROL) && !take_control(r))
		return false;
	return do_what_is_due(r);
}

/* The command goes on without us until it ends by itself; signals still reach it. */
static void wait_for_command(struct recorder *r)
{
	while (r->command.pid && !mt_command_poll(&r->command)) {
		mt_waiting_poll_signals(&r->waiting);
		take_signals(r);
	}
}

/* Losses that no LOST record told of, because none of its ring's records came after. */
static uint64_t settle_losses(struct recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};
	uint64_t told = sum_counts(r).lost, counted = 0;

	for (uint32_t i = 0; i < r->plan->events.count; i++)
		counted += mt_opened_lost(&r->opened, i);
	if (counted <= told)
		return told;
	(void)mt_state_put(&state, mt_loss_put,
			   &((struct mt_loss_record){.stream = UINT32_MAX,
						     .event = MT_EVENT_NONE,
						     .from = r->started,
						     .to = r->ended,
						     .count = counted - told,
						     .source = MT_LOSS_COUNTS}));
	mt_state_flush(&state);
	return counted;
}

/* They stay, with their counts, until the recorder goes. */
static void stop_drains(struct recorder *r)
{
	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_stop(r->drains.items[i]);
}

/* What --max-size left out, as a LOSS: the pack's thread has ended. */
static struct mt_error *tell_left_out(struct recorder *r, struct mt_recorder_result *result)
{
	struct mt_pack_left_out left_out = mt_pack_left_out(r->pack);
	uint8_t bytes[256];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};

	mt_writer_set_limit(mt_pack_writer(r->pack), 0);
	if (!left_out.samples)
		return NULL;
	say(r, 1, "--max-size left no room for %llu samples that had come already",
	    (unsigned long long)left_out.samples);
	result->counts.samples -= left_out.samples;
	result->lost += left_out.samples;
	mt_block_reset(&block, MT_CHUNK_STATE, 0);
	(void)mt_loss_put(&block, &((struct mt_loss_record){.stream = UINT32_MAX,
							    .event = MT_EVENT_NONE,
							    .from = left_out.from,
							    .to = left_out.to,
							    .count = left_out.samples,
							    .source = MT_LOSS_OUTPUT}));
	return mt_writer_write(mt_pack_writer(r->pack), &block, 0);
}

static struct mt_error *write_end(struct recorder *r, const struct mt_recorder_result *result)
{
	uint8_t bytes[256];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};
	struct mt_writer *writer = mt_pack_writer(r->pack);
	int status = result->command_status;
	struct mt_end_record end = {
		.start = r->started,
		.end = r->ended,
		.samples = result->counts.samples,
		.lost = result->lost,
		.raw_bytes = result->counts.raw_bytes,
		.written = mt_writer_counts(writer).written,
	};

	if (result->command_ran) {
		end.command_end = WIFSIGNALED(status) ? 2 : 1;
		end.command_status =
			(uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	mt_block_reset(&block, MT_CHUNK_END, 0);
	(void)mt_end_put(&block, &end);
	return mt_writer_write(writer, &block, 0);
}

static void settle_weights(struct recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};

	mt_governor_settle(r->governor, &state);
	mt_state_flush(&state);
}

static void fill_result(struct recorder *r, struct mt_recorder_result *result)
{
	result->counts = sum_counts(r);
	result->lost = settle_losses(r);
	result->seconds = (double)(r->ended - r->started) / 1e9;
	result->command_status = r->command.wait_status;
	result->command_ran = r->command.pid && !result->exec_errno;
	if (result->counts.stalls)
		say(r, 2, "the writer was behind %llu times",
		    (unsigned long long)result->counts.stalls);
	if (mt_governor_thinned(r->governor))
		say(r, 1,
		    "events were thinned: counts are estimates, each sample weighs what it "
		    "stands for");
	if (result->counts.odd)
		say(r, 1, "%llu records of the kernel made no sense",
		    (unsigned long long)result->counts.odd);
	if (result->counts.helped)
		say(r, 2, "buddies helped %llu times", (unsigned long long)result->counts.helped);
	if (mt_pack_hurried(r->pack))
		say(r, 2, "%llu chunks with less compression than asked for, spool at most %zu MiB",
		    (unsigned long long)mt_pack_hurried(r->pack), mt_spool_peak(r->spool) >> 20);
}

/* What --stats prints; NULL out of memory. */
static char *stats_text(const struct recorder *r, const struct mt_recorder_result *result)
{
	return mt_stats_text(&(struct mt_stats){
		.opened = &r->opened,
		.drains = r->drains.items,
		.memory = r->memory,
		.spool_peak = mt_spool_peak(r->spool),
		.fast = mt_pack_fast(r->pack),
		.hurried = mt_pack_hurried(r->pack),
		.writer = mt_writer_counts(mt_pack_writer(r->pack)),
		.locked = r->locked,
		.oom_adj = r->oom_adj,
		.seconds = result->seconds,
	});
}

/* From the last event to the END chunk. */
static void finish(struct recorder *r, struct mt_recorder_result *result)
{
	mt_opened_disable(&r->opened);
	r->ended = mt_clock_now(&r->clock);
	if (r->command.pid && !mt_command_poll(&r->command)) {
		say(r, 2, "recording has ended; process %d goes on, and is waited for",
		    r->command.pid);
		mark(r); /* what there is, is on disk while we wait */
		wait_for_command(r);
	}
	mt_pack_set_ending(r->pack, r->waiting.signals);
	stop_drains(r);
	put_waiting_notes(r);
	anchor(r);
	settle_weights(r);
	fill_result(r, result);
	mt_spool_close(r->spool);
	result->output_error = mt_pack_finish(r->pack);
	if (!result->output_error)
		result->output_error = tell_left_out(r, result);
	if (!result->output_error)
		result->output_error = write_end(r, result);
	result->written = mt_writer_counts(mt_pack_writer(r->pack)).written;
	if (close(r->output) && !result->output_error) {
		result->output_error = mt_error_os(errno, "cannot write the recording");
		result->output_error->kind = MT_ERR_OUTPUT;
	}
	r->output = -1;
	result->stats = r->options->stats ? stats_text(r, result) : NULL;
}

static void say_switch(void *voice, const char *text)
{
	say(voice, 0, "%s", text);
}

static struct mt_error *start_governor(struct recorder *r)
{
	r->governor = mt_governor_create(&(struct mt_governor_config){
		.plan = r->plan,
		.opened = &r->opened,
		.spool = r->spool,
		.drains = r->drains.items,
		.drain_count = r->drains.count,
		.limits = throttle_limits(r->options),
		.voice = r,
		.say = say_switch,
	});
	return r->governor ? NULL : mt_error_nomem();
}

/* All that can fail, up to the last step before the first event. */
static struct mt_error *prepare(struct recorder *r, int argc, char **argv)
{
	bool to_stdout = !strcmp(r->options->output, "-");
	struct mt_error *err = mt_waiting_init(&r->waiting);

	if (!err)
		err = mt_host_cpus(&r->cpus);
	if (!err && r->options->cgroup)
		err = mt_cgroup_open(r->options->cgroup, &r->cgroup);
	if (!err && (r->options->comm || r->options->user))
		err = mt_task_filter_create(r->options->comm, r->options->user, NULL, &r->filter);
	if (!err)
		err = make_plan(r);
	if (!err && r->options->command)
		err = mt_command_prepare(r->options->command, to_stdout, &r->command);
	mt_limits_raise_files(); /* behind the fork: the command keeps what it was given */
	r->oom_adj = mt_guest_spare_from_oom(); /* and so are the next two */
	r->locked = mt_guest_lock_memory();
	say(r, 2, "memory is %s; oom_score_adj is %d", r->locked ? "locked" : "not locked",
	    r->oom_adj);
	if (!err)
		err = open_events(r);
	if (!err && r->options->control)
		err = mt_control_open(r->options->control, &r->control);
	r->waiting.control = r->control.in;
	if (!err && !mt_targets_watch(r->options, &r->waiting))
		err = mt_error_nomem();
	if (!err)
		err = start_writing(r, argc, argv);
	if (!err)
		err = start_drains(r);
	return err ? err : start_governor(r);
}

/*
 * First the side-band and the ledger, then /proc, then what samples: so every task that is sampled
 * was either seen in /proc or told of by a record.
 */
static void record(struct recorder *r, struct mt_recorder_result *result)
{
	bool own_command = !mt_targets_are_cpus(r->options) && !mt_targets_are_tasks(r->options);

	r->started = mt_clock_now(&r->clock);
	r->next_mark = r->started + MARK_NS;
	r->next_anchor = r->started + ANCHOR_NS;
	r->next_tick = UINT64_MAX;
	r->samples_from = r->options->delay ? r->started + r->options->delay : UINT64_MAX;
	r->stop_at = r->options->duration ? r->started + r->options->duration : UINT64_MAX;
	if (!own_command)
		mt_opened_enable(&r->opened, MT_CLASS_RARE);
	put_existing(r);
	if (!own_command)
		mt_opened_enable(&r->opened, MT_CLASS_STORM);
	if (r->command.pid)
		result->exec_errno = mt_command_start(&r->command);
	while (!result->exec_errno && wait_turn(r))
		;
	finish(r, result);
}

static void recorder_deinit(struct recorder *r)
{
	for (size_t i = 0; i < r->waiting_notes.count; i++)
		free(r->waiting_notes.items[i].text);
	mt_array_deinit(&r->waiting_notes);
	mt_command_abandon(&r->command);
	stop_drains(r);
	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_destroy(r->drains.items[i]);
	mt_array_deinit(&r->drains);
	mt_pack_destroy(r->pack);
	mt_spool_destroy(r->spool);
	mt_governor_destroy(r->governor);
	mt_opened_deinit(&r->opened);
	mt_plan_destroy(r->plan);
	mt_clock_close(&r->clock);
	mt_tracepoints_destroy(r->tracepoints);
	mt_array_deinit(&r->cpus);
	mt_close_p(&r->output);
	mt_task_filter_destroy(r->filter);
	mt_control_close(&r->control);
	mt_close_p(&r->cgroup);
	mt_waiting_deinit(&r->waiting);
}

struct mt_error *mt_recorder_run(const struct mt_record_options *options, int argc, char **argv,
				 const struct mt_recorder_voice *voice,
				 struct mt_recorder_result *out)
{
	MT_CLEANUP(recorder_deinit)
	struct recorder r = {
		.options = options,
		.voice = voice,
		.output = -1,
		.cgroup = -1,
		.control = {.in = -1, .ack = -1},
		.waiting = {.signals = -1, .failed = -1, .full = -1, .control = -1},
	};
	struct mt_recorder_result result = {0};
	struct mt_error *err = NULL;

	if (options->command)
		result.exec_errno = mt_command_look_up(options->command[0]);
	if (!result.exec_errno)
		err = prepare(&r, argc, argv);
	if (err && r.output >= 0)
		mt_output_discard(options->output, r.output);
	if (err)
		return err;
	if (!result.exec_errno)
		record(&r, &result);
	*out = result;
	return NULL;
}
