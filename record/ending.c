/* Ends a recording, from the last event to the END chunk: losses, sample weights, statistics. */
#include "record/recorder_parts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/cli/options.h"
#include "record/cli/stats.h"
#include "record/plan/plan.h"
#include "record/recorder.h"
#include "record/rings/governor.h"
#include "record/rings/state_writer.h"
#include "record/write/pack.h"

#define SLOW_END_NS 500000000ull /* a longer wait is explained to the user */

/*
 * Returns true if each hit of the event writes one sample of the event. False for an event that
 * shares its hits with variants.
 */
static bool counts_samples(const struct mt_plan *plan, uint32_t event)
{
	const struct mt_planned_event *planned = &plan->events.items[event];
	bool variants = planned->full != event;

	for (uint32_t i = 0; i < plan->events.count; i++)
		variants |= i != event && plan->events.items[i].full == event;
	return !variants && planned->decoded.type == PERF_TYPE_TRACEPOINT &&
	       planned->decoded.sample_period == 1 && !mt_attr_has(&planned->decoded, MT_ATTR_FREQ);
}

/* Writes a loss that was found by comparing counts; its time in the recording is unknown. */
static void put_counted_loss(const struct mt_recorder *r, struct mt_state *state, uint32_t event,
			     uint64_t count)
{
	const struct mt_loss_record loss = {.stream = MT_STREAM_NONE,
					    .event = event,
					    .from = r->started,
					    .to = r->ended,
					    .count = count,
					    .source = MT_LOSS_COUNTS};

	(void)mt_state_put(state, mt_loss_put, &loss);
}

/*
 * Reports samples that the kernel counted, but neither wrote nor reported as lost, and returns
 * their number. Linux 6.18 drops such samples in softirqs in which RCU frees objects.
 */
static uint64_t settle_unwritten(struct mt_recorder *r, struct mt_state *state)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < r->plan->events.count; i++) {
		uint64_t here, counted;

		if (!counts_samples(r->plan, i))
			continue;
		here = mt_event_set_lost(&r->opened, i) +
		       mt_drains_event_samples(r->drains.items, r->drains.count, i);
		counted = mt_event_set_count(&r->opened, i);
		if (counted <= here)
			continue;
		put_counted_loss(r, state, i, counted - here);
		mt_recorder_say(r, 1, "%s: the kernel counted %llu more than it recorded",
				r->plan->events.items[i].name,
				(unsigned long long)(counted - here));
		all += counted - here;
	}
	return all;
}

/* Reports losses without a LOST record, which the kernel writes only before a later record. */
static uint64_t settle_unreported(struct mt_recorder *r, uint64_t reported, struct mt_state *state)
{
	uint64_t counted = 0;

	for (uint32_t i = 0; i < r->plan->events.count; i++)
		counted += mt_event_set_lost(&r->opened, i);
	if (counted <= reported)
		return 0;
	put_counted_loss(r, state, MT_EVENT_NONE, counted - reported);
	return counted - reported;
}

static uint64_t settle_losses(struct mt_recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};
	uint64_t reported = mt_recorder_sum_counts(r).lost, lost = reported;

	lost += settle_unreported(r, reported, &state);
	if (!reported || r->features.format_lost) /* otherwise the events of losses are unknown */
		lost += settle_unwritten(r, &state);
	mt_state_flush(&state);
	return lost;
}

/* Writes a LOSS for samples that --max-size left out. Call after the writing thread has ended. */
static struct mt_error *report_left_out(struct mt_recorder *r, struct mt_recorder_result *result)
{
	const struct mt_pack_counts counts = mt_pack_counts(r->pack);
	uint8_t bytes[256];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};

	mt_writer_set_limit(mt_pack_writer(r->pack), 0);
	if (!counts.left_out.samples)
		return NULL;
	mt_recorder_say(r, 1, "--max-size left no room for %llu samples that had come already",
			(unsigned long long)counts.left_out.samples);
	result->counts.samples -= counts.left_out.samples;
	result->lost += counts.left_out.samples;
	mt_block_reset(&block, MT_CHUNK_STATE, 0);
	(void)mt_loss_put(&block, &((struct mt_loss_record){.stream = MT_STREAM_NONE,
							    .event = MT_EVENT_NONE,
							    .from = counts.left_out.from,
							    .to = counts.left_out.to,
							    .count = counts.left_out.samples,
							    .source = MT_LOSS_OUTPUT}));
	return mt_writer_write(mt_pack_writer(r->pack), &block, 0);
}

/* Prints a message and writes it as a NOTE. Call after the writing thread has ended. */
static struct mt_error *report_late(struct mt_recorder *r, int level, const char *text)
{
	uint8_t bytes[512];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};

	r->voice->say(r->voice->context, level, text);
	mt_block_reset(&block, MT_CHUNK_STATE, 0);
	(void)mt_note_put(&block,
			  &((struct mt_note_record){.level = 1, .text = {text, strlen(text)}}));
	return mt_writer_write(mt_pack_writer(r->pack), &block, 0);
}

/* Reports images that were left out because a further signal arrived. */
static struct mt_error *report_not_carried(struct mt_recorder *r)
{
	const struct mt_pack_counts counts = mt_pack_counts(r->pack);
	char text[160];

	if (!counts.given_up)
		return NULL;
	snprintf(text, sizeof(text),
		 "ended by another signal: %zu images are not carried, nor the last names of "
		 "kernel and perf maps",
		 counts.not_carried);
	return report_late(r, 0, text);
}

/* Reports the unwind tables and samples that --strip left out. */
static struct mt_error *report_stripped(struct mt_recorder *r, struct mt_recorder_result *result)
{
	const struct mt_strip_counts counts = mt_pack_counts(r->pack).strip;
	struct mt_error *err = NULL;
	char text[200];

	if (counts.images.no_room) {
		snprintf(text, sizeof(text),
			 "--strip: no room for the unwind tables of %zu images, where stacks end "
			 "then; --memory gives more",
			 counts.images.no_room);
		err = report_late(r, 1, text);
	}
	if (err || !counts.left_out)
		return err;
	snprintf(text, sizeof(text),
		 "--strip: %llu samples made no sense, or there was no memory to unwind them: they "
		 "are left out",
		 (unsigned long long)counts.left_out);
	result->counts.samples -=
		counts.left_out < result->counts.samples ? counts.left_out : result->counts.samples;
	result->lost += counts.left_out;
	return report_late(r, 1, text);
}

static struct mt_error *write_end(struct mt_recorder *r, const struct mt_recorder_result *result)
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

static void settle_weights(struct mt_recorder *r)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};

	mt_governor_settle(r->governor, &state);
	mt_state_flush(&state);
}

static void fill_result(struct mt_recorder *r, struct mt_recorder_result *result)
{
	result->counts = mt_recorder_sum_counts(r);
	result->lost = settle_losses(r);
	result->seconds = (double)(r->ended - r->started) / 1e9;
	result->command_status = r->command.wait_status;
	result->command_ran = r->command.pid && !result->exec_errno;
	if (result->counts.stalls)
		mt_recorder_say(r, 2, "the writer was behind %llu times",
				(unsigned long long)result->counts.stalls);
	if (mt_governor_thinned(r->governor))
		mt_recorder_say(
			r, 1,
			"events were thinned: counts are estimates, each sample weighs what it "
			"stands for");
	if (result->counts.malformed)
		mt_recorder_say(r, 1, "%llu records of the kernel made no sense",
				(unsigned long long)result->counts.malformed);
	if (result->counts.helped)
		mt_recorder_say(r, 2, "buddies helped %llu times",
				(unsigned long long)result->counts.helped);
}

static void say_hurried(struct mt_recorder *r)
{
	const struct mt_pack_counts counts = mt_pack_counts(r->pack);

	if (counts.hurried)
		mt_recorder_say(
			r, 2,
			"%llu chunks with less compression than asked for, spool at most %zu MiB",
			(unsigned long long)counts.hurried, mt_spool_peak(r->spool) >> 20);
}

/* Returns the text of --stats; NULL out of memory. */
static char *stats_text(const struct mt_recorder *r, const struct mt_recorder_result *result)
{
	return mt_stats_text(&(struct mt_stats){
		.opened = &r->opened,
		.drains = r->drains.items,
		.memory = r->memory,
		.spool_peak = mt_spool_peak(r->spool),
		.pack = mt_pack_counts(r->pack),
		.prefaulting = r->prefault,
		.prefault = r->prefault ? mt_prefault_counts(r->prefault)
					: (struct mt_prefault_counts){0},
		.locked = r->locked,
		.oom_adj = r->oom_adj,
		.seconds = result->seconds,
	});
}

/*
 * Drops pending signals if there is a command. A ^C that ended the command also reached the
 * recorder, and is not the further signal that leaves out images.
 */
static void pass_over_signals(struct mt_recorder *r)
{
	bool by_terminal;

	while (r->command.pid && mt_waiting_take_signal(&r->waiting, &by_terminal))
		;
}

/* Prints a message if the end takes long, because images are being read or the output is slow. */
static void say_slow_end(const struct mt_recorder *r)
{
	if (mt_pack_finishes_within(r->pack, SLOW_END_NS))
		return;
	r->voice->say(r->voice->context, 0,
		      "recording has ended; what is left is written, and the images of its code: "
		      "another signal leaves those out");
}

void mt_recorder_finish(struct mt_recorder *r, struct mt_recorder_result *result)
{
	struct mt_error *err;

	if (r->voice->show)
		r->voice->show(r->voice->context, NULL);
	mt_recorder_poll_last(r);
	r->ended = mt_clock_now(&r->clock); /* all events were enabled until now */
	mt_event_set_disable(&r->opened);
	if (r->command.pid && !mt_command_poll(&r->command)) {
		mt_recorder_say(r, 2, "recording has ended; process %d goes on, and is waited for",
				r->command.pid);
		mt_recorder_mark(r); /* writes all records to disk before waiting */
		mt_recorder_wait_for_command(r);
	}
	pass_over_signals(r);
	mt_pack_set_ending(r->pack, r->waiting.signals);
	mt_recorder_stop_drains(r);
	mt_recorder_put_waiting_notes(r);
	mt_recorder_anchor(r);
	settle_weights(r);
	fill_result(r, result);
	mt_spool_close(r->spool);
	say_slow_end(r);
	err = mt_pack_finish(r->pack);
	say_hurried(r);
	err = err ? err : report_left_out(r, result);
	err = err ? err : report_not_carried(r);
	err = err ? err : report_stripped(r, result);
	err = err ? err : write_end(r, result);
	result->written = mt_writer_counts(mt_pack_writer(r->pack)).written;
	if (close(r->output) && !err) {
		err = mt_error_os(errno, "cannot write the recording");
		err->kind = MT_ERR_OUTPUT;
	}
	result->output_error = err;
	r->output = -1;
	result->stats = r->options->stats ? stats_text(r, result) : NULL;
}
