/*
 * A recording from start to end. Everything that can fail happens before the first event is
 * enabled. After that, the only error is a failed output, which ends the recording early and is
 * reported.
 */
#include "record/recorder.h"

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/cli/options.h"
#include "record/cli/output.h"
#include "record/plan/plan.h"
#include "record/probes/probes.h"
#include "record/recorder_parts.h"
#include "record/rings/ahead.h"
#include "record/rings/governor.h"
#include "record/rings/prefault.h"
#include "record/rings/spool.h"
#include "record/rings/state_writer.h"
#include "record/rings/task_filter.h"
#include "record/state/gauges.h"
#include "record/tracepoints/tracepoints.h"
#include "record/write/pack.h"

static void start_clock(struct mt_recorder *r)
{
	const struct mt_record_options *options = r->options;

	r->started = mt_clock_now(&r->clock);
	r->samples_from = options->delay ? r->started + options->delay : UINT64_MAX;
	r->stop_at = options->duration ? r->started + options->duration : UINT64_MAX;
}

/*
 * Enables the side-band and ledger events first, then reads /proc, then enables sampling events.
 * Thus every sampled task is known from /proc or from a record.
 */
static void record(struct mt_recorder *r, struct mt_recorder_result *result)
{
	bool own_command =
		!mt_options_target_cpus(r->options) && !mt_options_target_tasks(r->options);

	start_clock(r);
	r->next_mark = r->started + MT_MARK_NS;
	r->next_anchor = r->started + MT_ANCHOR_NS;
	r->next_tick = r->next_count = UINT64_MAX;
	r->next_budget = r->block_budget ? r->started : UINT64_MAX;
	r->next_status = r->voice->show ? r->started : UINT64_MAX;
	mt_recorder_put_begin(r);
	if (!own_command)
		mt_event_set_enable(&r->opened, MT_CLASS_RARE);
	mt_recorder_put_existing(r);
	if (!own_command)
		mt_event_set_enable(&r->opened, MT_CLASS_STORM);
	if (r->command.pid)
		result->exec_errno = mt_command_start(&r->command);
	if (!result->exec_errno)
		mt_recorder_poll_first(r);
	while (!result->exec_errno && mt_recorder_wait_turn(r))
		;
	mt_recorder_finish(r, result);
}

/* Counts until the command or the targets end, or until an option or a signal ends the count. */
static void count(struct mt_recorder *r, struct mt_recorder_result *result)
{
	uint64_t interval = r->options->interval, ended;

	r->next_mark = r->next_anchor = r->next_tick = r->next_poll = r->next_status =
		r->next_budget = UINT64_MAX;
	if (mt_options_target_cpus(r->options) || mt_options_target_tasks(r->options)) {
		mt_event_set_enable(&r->opened, MT_CLASS_RARE);
		mt_event_set_enable(&r->opened, MT_CLASS_STORM);
	}
	/*
	 * Enabling and disabling tracepoints takes tenths of a second, which must not count as time
	 * of the command.
	 */
	r->started = mt_clock_now(&r->clock);
	r->next_count = interval ? r->started + interval : UINT64_MAX;
	if (r->options->duration)
		r->stop_at = r->started + r->options->duration;
	if (r->command.pid)
		result->exec_errno = mt_command_start(&r->command);
	if (result->exec_errno)
		return;
	while (!r->output_failed && mt_recorder_wait_turn(r))
		;
	ended = mt_clock_now(&r->clock);
	mt_event_set_disable(&r->opened);
	if (!r->output_failed)
		mt_recorder_print_counts(r, ended);
	mt_recorder_wait_for_command(r);
	result->command_status = r->command.wait_status;
	if (r->output_failed) {
		result->output_error = mt_error_create(MT_ERR_OUTPUT, "cannot write the counts");
	}
}

static void recorder_deinit(struct mt_recorder *r)
{
	if (r->probes)
		mt_probes_remove_later(r->probes);
	for (size_t i = 0; i < r->waiting_notes.count; i++)
		free(r->waiting_notes.items[i].text);
	mt_array_deinit(&r->waiting_notes);
	mt_command_abandon(&r->command);
	mt_recorder_stop_drains(r);
	mt_pack_destroy(r->pack); /* the pack may use the drains */
	mt_ahead_destroy(r->ahead);
	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_destroy(r->drains.items[i]);
	mt_array_deinit(&r->drains);
	mt_prefault_destroy(r->prefault);
	mt_spool_destroy(r->spool);
	mt_governor_destroy(r->governor);
	mt_event_set_deinit(&r->opened);
	mt_block_budget_destroy(r->block_budget);
	mt_plan_destroy(r->plan);
	mt_clock_close(&r->clock);
	mt_probes_destroy(r->probes); /* the events of the probes are closed now */
	mt_tracepoints_destroy(r->tracepoints);
	free(r->command_file);
	mt_array_deinit(&r->cpus);
	mt_gauges_destroy(r->gauges);
	free(r->counts);
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
	struct mt_recorder r = {
		.options = options,
		.voice = voice,
		.output = -1,
		.cgroup = -1,
		.control = {.in = -1, .ack = -1},
		.waiting = {.signals = -1, .failed = -1, .full = -1, .control = -1},
	};
	struct mt_recorder_result result = {0};
	bool counts = options->action == MT_ACTION_COUNT;
	struct mt_error *err = NULL;

	if (options->command)
		result.exec_errno = mt_command_look_up(options->command[0], &r.command_file);
	if (!result.exec_errno)
		err = counts ? mt_recorder_prepare_counting(&r)
			     : mt_recorder_prepare(&r, argc, argv);
	if (err && r.output >= 0)
		mt_output_discard(options->output, r.output);
	if (err)
		return err;
	if (!result.exec_errno && counts) {
		start_clock(&r);
		count(&r, &result);
	} else if (!result.exec_errno) {
		record(&r, &result);
	}
	*out = result;
	return NULL;
}
