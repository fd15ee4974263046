/* Runs while events are recorded: waits, marks, ticks, obeys signals and --control. */
#include "record/cli/options.h"
#include "record/recorder_parts.h"

#include <sys/wait.h>

#include "formats/base/err.h"
#include "record/plan/plan.h"
#include "record/rings/governor.h"
#include "record/rings/spool.h"
#include "record/rings/state_writer.h"
#include "record/state/host.h"

#define FLUSH_NS 200000000ull /* a drain that needs longer to flush has no room */
#define TICK_NS 100000000ull

/* Flushes all records up to now, and writes a MARK after them. */
void mt_recorder_mark(struct mt_recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_MARK};
	struct mt_mark_record record = {0};
	struct mt_stream_counts counts;
	uint64_t until = mt_clock_monotonic() + FLUSH_NS;
	bool whole = true;

	mt_clock_sync(&r->clock);
	record.complete_below = mt_clock_now(&r->clock) - r->clock.within;
	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_flush(r->drains.items[i]);
	for (size_t i = 0; i < r->drains.count; i++)
		whole &= mt_drain_wait(r->drains.items[i], until);
	r->next_mark = mt_clock_now(&r->clock) + MT_MARK_NS;
	if (!whole || !mt_state_begin(&state))
		return; /* the output is stalled, so the records are not complete */
	counts = mt_recorder_sum_counts(r);
	record.samples = counts.samples;
	record.lost = counts.lost;
	(void)mt_state_put(&state, mt_mark_put, &record);
	mt_state_flush(&state);
}

void mt_recorder_anchor(struct mt_recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};

	if (!mt_state_begin(&state))
		return;
	mt_host_anchor(&state, &r->clock);
	mt_state_flush(&state);
	r->next_anchor = mt_clock_now(&r->clock) + MT_ANCHOR_NS;
}

/*
 * Takes pending signals and forwards them to the command, except signals of the terminal, which the
 * command receives directly. Returns true if one of them ends the recording.
 */
static bool take_signals(struct mt_recorder *r)
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

static void pause_samples(struct mt_recorder *r, bool paused, const char *why)
{
	mt_event_set_pause(&r->opened, paused);
	r->samples_from = UINT64_MAX;
	mt_recorder_say(r, 0, "events %s %.3f s after the start%s", paused ? "disabled" : "enabled",
			(double)(mt_clock_now(&r->clock) - r->started) / 1e9, why);
}

/* Executes one command of --control. Returns false for stop. */
static bool obey(struct mt_recorder *r, enum mt_control_command command)
{
	switch (command) {
	case MT_CONTROL_ENABLE:
	case MT_CONTROL_DISABLE:
		pause_samples(r, command == MT_CONTROL_DISABLE, ", by --control");
		break;
	case MT_CONTROL_UNKNOWN:
		mt_recorder_say(r, 1, "--control: '%s' is none of enable, disable, ping and stop",
				r->control.line);
		return true; /* perf does not acknowledge unknown commands, either */
	default:
		break;
	}
	mt_control_ack(&r->control);
	return command != MT_CONTROL_STOP;
}

/* Reads and executes commands of --control. Returns false for stop. */
static bool take_control(struct mt_recorder *r)
{
	enum mt_control_command command;
	bool open = mt_control_read(&r->control);

	while ((command = mt_control_take(&r->control))) {
		if (!obey(r, command))
			return false;
	}
	if (!open) {
		mt_recorder_say(r, 1, "--control: nobody writes there any more; events stay %s",
				r->opened.paused ? "disabled" : "enabled");
		r->waiting.control = -1;
	}
	return true;
}

/* Returns the time until the next timed action, ns. */
static uint64_t idle_ns(const struct mt_recorder *r)
{
	const uint64_t dues[] = {r->next_mark,	  r->next_anchor, r->next_tick,
				 r->samples_from, r->stop_at,	  r->next_poll,
				 r->next_count,	  r->next_status, r->next_budget};
	uint64_t now = mt_clock_now(&r->clock), due = UINT64_MAX;

	for (size_t i = 0; i < sizeof(dues) / sizeof(dues[0]); i++)
		due = dues[i] < due ? dues[i] : due;
	return due > now ? due - now : 0;
}

/* Ticks the governor: often while samples arrive, otherwise only at marks. */
static void tick(struct mt_recorder *r, uint64_t now)
{
	uint64_t samples = mt_recorder_sum_counts(r).samples;

	mt_governor_tick(r->governor, now);
	r->next_tick = samples != r->ticked ? now + TICK_NS : UINT64_MAX;
	r->ticked = samples;
}

static void reopen(struct mt_recorder *r, size_t place)
{
	int cpu = r->opened.cpus.items[place].cpu;
	struct mt_error *err = mt_event_set_reopen_cpu(&r->opened, place);

	mt_drain_pin_again(r->drains.items[place]);
	if (err)
		mt_recorder_say(r, 1, "CPU %d is online again, and nothing of it recorded: %s", cpu,
				err->message);
	else
		mt_recorder_say(
			r, 1,
			"CPU %d is online again: what ran there in the %.1f s before now may "
			"be missing",
			cpu, (double)MT_MARK_NS / 1e9);
	mt_error_destroy(err);
}

/*
 * Reopens the events of CPUs that are online again, because events of a CPU end when it goes
 * offline. A CPU that is offline only between two checks is not noticed.
 */
static void follow_cpus(struct mt_recorder *r)
{
	struct mt_number_list online = {0};
	struct mt_error *err = mt_options_target_cpus(r->options) ? mt_host_cpus(&online) : NULL;

	for (size_t i = 0; i < r->opened.cpus.count && online.count && !err; i++) {
		struct mt_event_set_cpu *cpu = &r->opened.cpus.items[i];
		bool was_offline = cpu->offline;

		cpu->offline = !mt_list_has(&online, cpu->cpu);
		if (cpu->offline && !was_offline)
			mt_recorder_say(r, 1, "CPU %d went offline", cpu->cpu);
		else if (was_offline && !cpu->offline)
			reopen(r, i);
	}
	mt_error_destroy(err);
	mt_array_deinit(&online);
}

/*
 * Tables of images and code addresses grow during the recording. If memory exceeds the bound, the
 * spool shrinks by the excess.
 */
static void keep_within_memory(struct mt_recorder *r)
{
	uint64_t used = mt_self_limits_memory();

	if (used > r->memory.bytes)
		mt_spool_shrink(r->spool, (used - r->memory.bytes) / MT_SPOOL_BLOCK + 1);
}

/* Executes the timed actions that are due. False if the recording must end. */
static bool do_what_is_due(struct mt_recorder *r)
{
	uint64_t now = mt_clock_now(&r->clock);

	if (now >= r->stop_at)
		return false;
	if (now >= r->next_tick || now >= r->next_mark)
		tick(r, now);
	if (now >= r->samples_from)
		pause_samples(r, false, ", as -D says");
	if (now >= r->next_mark) {
		follow_cpus(r);
		keep_within_memory(r);
		mt_recorder_mark(r);
	}
	if (now >= r->next_budget)
		mt_recorder_keep_budget(r);
	if (now >= r->next_anchor)
		mt_recorder_anchor(r);
	if (now >= r->next_poll)
		mt_recorder_poll_again(r);
	if (now >= r->next_count)
		mt_recorder_print_counts(r, mt_clock_now(&r->clock));
	if (now >= r->next_status)
		mt_recorder_show_status(r);
	return true;
}

bool mt_recorder_wait_turn(struct mt_recorder *r)
{
	unsigned causes = mt_waiting_poll(&r->waiting, idle_ns(r));

	if (causes & MT_WAKE_FAILED) {
		r->output_failed = true;
		return false;
	}
	if (causes & MT_WAKE_FULL) {
		mt_recorder_say(r, 0, "--max-size: the recording ends here, %.1f s after its start",
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

void mt_recorder_wait_for_command(struct mt_recorder *r)
{
	while (r->command.pid && !mt_command_poll(&r->command)) {
		(void)mt_waiting_for_signal(&r->waiting, -1);
		take_signals(r);
	}
}
