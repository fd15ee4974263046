/*
 * The parts that make up a recorder, for its own files alone: recorder.c (the course as a whole),
 * notes.c (what it says), preparing.c (up to the first event), course.c (while it records),
 * ending.c (from the last event on).
 */
#ifndef MT_RECORD_RECORDER_PARTS_H
#define MT_RECORD_RECORDER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "record/cli/command.h"
#include "record/cli/control.h"
#include "record/cli/waiting.h"
#include "record/open/clock.h"
#include "record/open/perf_event.h"
#include "record/open/trials.h"
#include "record/rings/drain.h"
#include "record/rings/event_set.h"
#include "record/rings/self_limits.h"
#include "record/rings/stream.h"
#include "record/write/pack.h"

#define MT_MARK_NS 500000000ull /* everything is written out this often */
#define MT_ANCHOR_NS 60000000000ull

struct mt_ahead;
struct mt_error;
struct mt_gauges;
struct mt_governor;
struct mt_heal;
struct mt_plan;
struct mt_record_options;
struct mt_recorder_result;
struct mt_recorder_voice;
struct mt_spool;
struct mt_task_filter;
struct mt_tracepoints;

/* What was said before there was a recording, or room in it, to say it in. */
struct mt_waiting_note {
	uint32_t level;
	char *text;
};

struct mt_recorder {
	const struct mt_record_options *options;
	const struct mt_recorder_voice *voice;
	struct mt_perf_features features;
	struct mt_clock clock;
	struct mt_trials trials; /* until the events are open */
	struct mt_tracepoints *tracepoints;
	struct mt_plan *plan;
	struct mt_number_list cpus;
	struct mt_command command;
	struct mt_event_set opened;
	int output;
	struct mt_waiting waiting;
	struct mt_spool *spool;
	struct mt_pack *pack;
	struct mt_pack_flusher flusher;
	struct mt_stream_config stream_config;
	MT_ARRAY(struct mt_drain *) drains;
	struct mt_governor *governor;
	struct mt_control control;
	struct mt_task_filter *filter;
	struct mt_heal *heal; /* NULL with --no-heal */
	struct mt_ahead *ahead;
	struct mt_memory_share memory;
	int oom_adj;
	bool locked;
	int cgroup;
	uint64_t started, ended, next_mark, next_anchor;
	uint64_t next_tick, ticked; /* of the governor; samples by then */
	struct mt_gauges *gauges;
	uint64_t next_poll;		/* when the targets' memory is read again */
	uint64_t polled_lost;		/* records the ledger had lost by the last poll */
	uint64_t samples_from, stop_at; /* -D and --duration; UINT64_MAX: not by the clock */
	bool output_failed;
	MT_ARRAY(struct mt_waiting_note) waiting_notes;
};

/* Tells the user (levels as in recorder.h); levels 0 and 1 stand in the recording too. */
void mt_recorder_say(struct mt_recorder *r, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts a NOTE into the recording alone, now or as soon as there is room. Takes text. */
void mt_recorder_put_note(struct mt_recorder *r, uint32_t level, char *text);

/* Puts into the recording what there was no room for when it was said. */
void mt_recorder_put_waiting_notes(struct mt_recorder *r);

/* All that can fail, up to the last step before the first event. */
struct mt_error *mt_recorder_prepare(struct mt_recorder *r, int argc, char **argv);

/* What has passed through the drains so far. */
struct mt_stream_counts mt_recorder_sum_counts(const struct mt_recorder *r);

/* Everything up to now goes out, and a MARK behind it says so. */
void mt_recorder_mark(struct mt_recorder *r);

/* One CLOCK record. */
void mt_recorder_anchor(struct mt_recorder *r);

/* What runs already, as STATE. */
void mt_recorder_put_existing(struct mt_recorder *r);

/* Gauges of the targets, and their maps again where an account of them needs that. */
void mt_recorder_poll_first(struct mt_recorder *r);
void mt_recorder_poll_again(struct mt_recorder *r);
void mt_recorder_poll_last(struct mt_recorder *r);

/* One turn of waiting; false when the recording is to end. */
bool mt_recorder_wait_turn(struct mt_recorder *r);

/* The command goes on without us until it ends by itself; signals still reach it. */
void mt_recorder_wait_for_command(struct mt_recorder *r);

/* Ends the drains' threads; they stay, with their counts, until the recorder goes. */
void mt_recorder_stop_drains(struct mt_recorder *r);

/* From the last event to the END chunk. */
void mt_recorder_finish(struct mt_recorder *r, struct mt_recorder_result *result);

#endif
