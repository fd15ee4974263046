/*
 * The state of a recorder, shared only by the files below. Each file uses only files listed before
 * it: recorder_parts.c (messages), counting.c (--stat), block_budget.c (--malloc-sample and the
 * budget of blocks), preparing.c (before the first event), polling.c (/proc of the targets), run.c
 * (while events are recorded), ending.c (after the last event), recorder.c (the whole recording).
 */
#ifndef MT_RECORD_RECORDER_PARTS_H
#define MT_RECORD_RECORDER_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/array.h"
#include "record/cli/command.h"
#include "record/cli/control.h"
#include "record/cli/waiting.h"
#include "record/open/clock.h"
#include "record/open/perf_event.h"
#include "record/open/trials.h"
#include "record/probes/probe_files.h"
#include "record/rings/drain.h"
#include "record/rings/event_set.h"
#include "record/rings/self_limits.h"
#include "record/rings/stream.h"
#include "record/write/pack.h"

#define MT_MARK_NS 500000000ull /* interval of MARKs */
#define MT_ANCHOR_NS 60000000000ull

struct mt_ahead;
struct mt_block_budget;
struct mt_command;
struct mt_count;
struct mt_error;
struct mt_event_set;
struct mt_gauges;
struct mt_governor;
struct mt_plan;
struct mt_prefault;
struct mt_probes;
struct mt_record_options;
struct mt_recorder_result;
struct mt_recorder_voice;
struct mt_spool;
struct mt_task_filter;
struct mt_tracepoints;
struct mt_waiting;

/* A NOTE that could not be written yet, because there was no recording or no free block. */
struct mt_waiting_note {
	uint32_t level;
	char *text;
};

struct mt_recorder {
	const struct mt_record_options *options;
	const struct mt_recorder_voice *voice;
	struct mt_perf_features features;
	struct mt_clock clock;
	struct mt_trials trials; /* kept until the events are open */
	struct mt_tracepoints *tracepoints;
	char *command_file; /* path of the program to run, or NULL */
	struct mt_probe_targets probed;
	struct mt_probes *probes;
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
	struct mt_prefault *prefault; /* NULL with --no-prefault */
	struct mt_ahead *ahead;
	struct mt_memory_share memory;
	int oom_adj;
	bool locked;
	int cgroup;
	uint64_t started, ended, next_mark, next_anchor;
	uint64_t next_tick; /* time of the governor's next tick */
	uint64_t ticked;    /* number of samples at the governor's last tick */
	struct mt_gauges *gauges;
	uint64_t next_poll;		/* time of the next poll of the targets' memory */
	uint64_t polled_lost;		/* lost records of MT_CLASS_RARE at the last poll */
	uint64_t samples_from, stop_at; /* times of -D and --duration; UINT64_MAX: never */
	struct mt_count *counts;	/* --stat: last printed counts, by index in the plan */
	uint64_t next_count;		/* time of the next printing */
	unsigned printed_counts;	/* number of printings */
	uint64_t next_status;		/* time of the next status line */
	struct mt_block_budget *block_budget; /* NULL: no budget for blocks */
	uint64_t next_budget;		      /* time of the next check of that budget */
	bool output_failed;
	MT_ARRAY(struct mt_waiting_note) waiting_notes;
};

/* Prints a message (levels as in recorder.h). A message of level 0 or 1 also becomes a NOTE. */
void mt_recorder_say(struct mt_recorder *r, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a NOTE without printing it, now or as soon as there is a free block. Takes text. */
void mt_recorder_put_note(struct mt_recorder *r, uint32_t level, char *text);

/* Writes the waiting notes. */
void mt_recorder_put_waiting_notes(struct mt_recorder *r);

/* Takes all steps that can fail before the first event is enabled. */
struct mt_error *mt_recorder_prepare(struct mt_recorder *r, int argc, char **argv);

/* Does the same for --stat, whose events only count. */
struct mt_error *mt_recorder_prepare_counting(struct mt_recorder *r);

/* Opens the plan's events as counters on the targets. Deinitialise *out, also after a failure. */
struct mt_error *mt_recorder_open_counters(struct mt_recorder *r, const struct mt_plan *plan,
					   struct mt_event_set *out);

/* Applies --malloc-sample to the plan. For `auto`, counts blocks for a second. */
struct mt_error *mt_recorder_sample_blocks(struct mt_recorder *r);

/* Switches the probes off if they cost more than the budget. Call it at r->next_budget. */
void mt_recorder_keep_budget(struct mt_recorder *r);

/* NULL-safe. Call this before destroying the plan, which the budget borrows. */
void mt_block_budget_destroy(struct mt_block_budget *budget);

/* Leaves out events of the plan that the kernel or this machine cannot count. */
void mt_recorder_leave_out_unsupported(struct mt_recorder *r);

/* Prints the counts since the last call. */
void mt_recorder_print_counts(struct mt_recorder *r, uint64_t now);

/* Returns the sum of the drains' counts so far. */
struct mt_stream_counts mt_recorder_sum_counts(const struct mt_recorder *r);

/* Flushes all drains, and writes a MARK after their records. */
void mt_recorder_mark(struct mt_recorder *r);

/* Writes a CLOCK record. */
void mt_recorder_anchor(struct mt_recorder *r);

/* Writes the start time and the pid of the command. Call this before any event is enabled. */
void mt_recorder_put_begin(struct mt_recorder *r);

/* Writes the existing processes into STATE chunks. */
void mt_recorder_put_existing(struct mt_recorder *r);

/* Write gauges of the targets, and mappings of the targets if accounts need them. */
void mt_recorder_poll_first(struct mt_recorder *r);
void mt_recorder_poll_again(struct mt_recorder *r);
void mt_recorder_poll_last(struct mt_recorder *r);

/* Shows the status line. */
void mt_recorder_show_status(struct mt_recorder *r);

/* Waits until an action is due, and carries it out. Returns false if the recording must end. */
bool mt_recorder_wait_turn(struct mt_recorder *r);

/* Waits until the command ends by itself, and forwards signals to the command. */
void mt_recorder_wait_for_command(struct mt_recorder *r);

/* Ends the drains' threads. The drains keep their counts until the recorder is destroyed. */
void mt_recorder_stop_drains(struct mt_recorder *r);

/* Ends the recording: disables the events, and writes everything up to the END chunk. */
void mt_recorder_finish(struct mt_recorder *r, struct mt_recorder_result *result);

/* Opens the events for all targets. The command is the target if there is no other target. */
struct mt_error *mt_targets_open(const struct mt_record_options *options,
				 const struct mt_command *command, struct mt_event_set *opened);

/* Calls each() for every existing target process, but not for the command or for children. */
void mt_targets_each(const struct mt_record_options *options,
		     void (*each)(void *context, pid_t pid), void *context);

/* Watches for the end of the targets, which ends the recording. False out of memory. */
bool mt_targets_watch(const struct mt_record_options *options, struct mt_waiting *waiting);

#endif
