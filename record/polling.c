/*
 * Polls the targets through /proc: running processes when the recording begins, and their memory
 * during the recording.
 */
#include "record/recorder_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "record/cli/options.h"
#include "record/cli/stats.h"
#include "record/plan/plan.h"
#include "record/proc/procfs.h"
#include "record/recorder.h"
#include "record/rings/state_writer.h"
#include "record/rings/task_filter.h"
#include "record/state/existing.h"
#include "record/state/gauges.h"
#include "record/state/host.h"

#define POLL_NS 1000000000ull
#define STATUS_NS 1000000000ull
#define POLL_SHARE 400		 /* polling takes at most 1 / POLL_SHARE of the time */
#define WALK_NS 10000000ull	 /* at the start, when the duration of the recording is unknown */
#define WALK_SHARE 100		 /* at the end: 1 / WALK_SHARE of the duration of the recording */
#define WALK_MAX_NS 250000000ull /* short, because signals must take effect within a second */

enum poll_kind {
	POLL_FIRST,
	POLL_AGAIN,
	POLL_LAST,
};

/* One poll of the targets, and which data it writes. */
struct poll {
	struct mt_recorder *r;
	struct mt_state state;
	bool maps, gauges, children;
	struct mt_number_list family;
};

/* Returns true if a signal is pending, which must end even a recording with stalled output. */
static bool a_signal_waits(void *context)
{
	const struct mt_recorder *r = context;

	return mt_waiting_for_signal(&r->waiting, 0);
}

/* Always returns true: if there is no room, the data is left to a later poll. */
static bool at_once(void *context)
{
	(void)context;
	return true;
}

static struct mt_state begin_state(struct mt_recorder *r, bool (*give_up)(void *context))
{
	return (struct mt_state){.spool = r->spool,
				 .type = MT_CHUNK_STATE,
				 .give_up = give_up,
				 .give_up_context = r};
}

static void meet(void *context, pid_t tid)
{
	const struct poll *poll = context;

	mt_task_filter_meet(poll->r->filter, (uint32_t)tid, mt_clock_now(&poll->r->clock));
}

static void put_existing(void *context, pid_t pid)
{
	struct poll *poll = context;

	if (poll->r->filter)
		(void)mt_existing_each_thread(pid, meet, poll);
	mt_existing_process(&poll->state, &poll->r->clock, pid, !poll->r->options->strip);
}

void mt_recorder_put_begin(struct mt_recorder *r)
{
	struct mt_state state = begin_state(r, a_signal_waits);

	mt_host_begin(&state, r->started, r->command.pid);
	mt_state_flush(&state);
}

static void add_to_family(void *context, pid_t pid)
{
	struct poll *poll = context;

	if (pid != poll->r->stream_config.self)
		(void)mt_array_append(&poll->family, (int)pid);
}

/* Returns true if gauges include the children of the targets, recorded or not. */
static bool shows_children(const struct mt_recorder *r)
{
	return !mt_options_target_cpus(r->options) && !r->options->no_inherit;
}

void mt_recorder_put_existing(struct mt_recorder *r)
{
	struct poll poll = {.r = r, .state = begin_state(r, a_signal_waits)};
	size_t given;

	mt_targets_each(r->options, put_existing, &poll);
	if (shows_children(r)) {
		mt_targets_each(r->options, add_to_family, &poll);
		given = poll.family.count;
		(void)mt_existing_add_children(&poll.family, getpid());
		for (size_t i = given; i < poll.family.count && !poll.state.given_up; i++)
			mt_existing_name(&poll.state, poll.family.items[i], !r->options->strip);
	}
	mt_array_deinit(&poll.family);
	mt_state_flush(&poll.state);
}

/* Adds the children of the family, then reads the wanted mappings and gauges of each process. */
static void poll_family(struct poll *poll)
{
	if (poll->children)
		(void)mt_existing_add_children(&poll->family, poll->r->stream_config.self);
	for (size_t i = 0; i < poll->family.count && !poll->state.given_up; i++) {
		if (poll->maps)
			mt_existing_reread(&poll->state, &poll->r->clock, poll->family.items[i]);
		if (poll->gauges)
			mt_gauges_add(poll->r->gauges, poll->family.items[i]);
	}
}

/* Returns how long (ns) the kernel may walk pages of processes for the most expensive gauges. */
static uint64_t walk_ns(const struct mt_recorder *r, enum poll_kind kind)
{
	uint64_t share = (mt_clock_now(&r->clock) - r->started) / WALK_SHARE;

	if (kind != POLL_LAST)
		return kind == POLL_FIRST ? WALK_NS : 0;
	return share < WALK_NS ? WALK_NS : share > WALK_MAX_NS ? WALK_MAX_NS : share;
}

/* Polls the targets; sets the time of the next poll. False if there was no room for all data. */
static bool carry_out(struct mt_recorder *r, enum poll_kind kind, bool maps)
{
	bool wide = mt_options_target_cpus(r->options);
	bool gauges = kind != POLL_AGAIN || r->options->gauges;
	struct poll poll = {
		.r = r,
		.state = begin_state(r, kind == POLL_AGAIN ? at_once : a_signal_waits),
		.maps = maps,
		.gauges = gauges,
		.children = shows_children(r),
	};
	uint64_t interval = r->options->gauges ? r->options->gauges : POLL_NS, took;
	uint64_t began = mt_clock_now(&r->clock), cpu = mt_clock_thread_ns();

	if (gauges)
		mt_gauges_begin(r->gauges, &poll.state, kind != POLL_AGAIN);
	mt_targets_each(r->options, add_to_family, &poll);
	if (!wide && !mt_options_target_tasks(r->options) && r->command.pid && !r->command.ended &&
	    kind != POLL_FIRST)
		add_to_family(&poll, r->command.pid);
	poll_family(&poll);
	if (gauges)
		mt_gauges_finish(r->gauges,
				 &(struct mt_gauge_walks){.ns = walk_ns(r, kind),
							  .mappings = !wide,
							  .cgroups = wide && kind != POLL_AGAIN});
	mt_array_deinit(&poll.family);
	mt_state_flush(&poll.state);
	took = kind == POLL_AGAIN ? (mt_clock_thread_ns() - cpu) * POLL_SHARE : 0;
	r->next_poll = began + (took > interval ? took : interval);
	return !poll.state.given_up;
}

/* Returns true if accounts are kept: only then does the side-band report data mappings. */
static bool keeps_account(const struct mt_recorder *r)
{
	return r->plan->events.items[0].attr.mmap_data;
}

static uint64_t lost_of_ledger(const struct mt_recorder *r)
{
	struct mt_stream_counts sum = {0};

	for (size_t i = 0; i < r->drains.count; i++)
		(void)mt_drain_class_counts(r->drains.items[i], MT_CLASS_RARE, &sum);
	return sum.lost;
}

/* Polls the host or running targets. A command that has just begun is left to the next poll. */
void mt_recorder_poll_first(struct mt_recorder *r)
{
	bool running = mt_options_target_cpus(r->options) || mt_options_target_tasks(r->options);

	(void)carry_out(r, POLL_FIRST, running && keeps_account(r));
}

/* Polls without waiting for the output. If there is no room, a later poll writes the data. */
void mt_recorder_poll_again(struct mt_recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};
	uint64_t lost = lost_of_ledger(r);

	r->next_poll = mt_clock_now(&r->clock) + POLL_NS;
	if (!mt_state_begin(&state))
		return;
	mt_state_flush(&state);
	if (carry_out(r, POLL_AGAIN, keeps_account(r) && lost != r->polled_lost))
		r->polled_lost = lost;
}

/* Returns the bytes that a new process could use without swapping (/proc/meminfo); 0: unknown. */
static uint64_t host_available(void)
{
	MT_CLEANUP_FREE char *text = mt_read_text("/proc/meminfo", NULL);
	uint64_t bytes = 0;

	(void)mt_find_number(text, "MemAvailable", &bytes);
	return bytes;
}

/* Shows the status line: the memory of the host, or of the targets by their last gauges. */
void mt_recorder_show_status(struct mt_recorder *r)
{
	bool of_host = mt_options_target_cpus(r->options);
	struct mt_stream_counts counts = mt_recorder_sum_counts(r);
	uint64_t now = mt_clock_now(&r->clock);
	struct mt_progress progress = {.seconds = (double)(now - r->started) / 1e9,
				       .samples = counts.samples,
				       .lost = counts.lost,
				       .of_host = of_host};
	struct stat file;

	if (!fstat(r->output, &file) && S_ISREG(file.st_mode))
		progress.written = (uint64_t)file.st_size;
	if (of_host)
		progress.memory = host_available();
	else if (r->options->gauges)
		progress.memory = mt_gauges_resident(r->gauges);
	r->voice->show(r->voice->context, &progress);
	r->next_status = now + STATUS_NS;
}

/* Polls targets that still run. Does not read mappings again if the whole host is recorded. */
void mt_recorder_poll_last(struct mt_recorder *r)
{
	bool maps = keeps_account(r) && !mt_options_target_cpus(r->options);

	if (!r->output_failed && !carry_out(r, POLL_LAST, maps))
		mt_recorder_say(r, 1,
				"output is slow: the sizes of the targets at the end are left out");
}
