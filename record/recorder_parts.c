/* Messages of a recorder, for the user and for the recording; its drains; its targets. */
#include "record/recorder_parts.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "formats/records/record.h"
#include "record/cli/command.h"
#include "record/cli/options.h"
#include "record/cli/waiting.h"
#include "record/recorder.h"
#include "record/rings/event_set.h"
#include "record/rings/state_writer.h"
#include "record/state/existing.h"

void mt_recorder_put_note(struct mt_recorder *r, uint32_t level, char *text)
{
	struct mt_state state = {.spool = r->spool, .type = MT_CHUNK_STATE};
	struct mt_note_record note = {.level = level, .text = {text, strlen(text)}};

	if (r->spool && mt_state_begin(&state)) {
		(void)mt_state_put(&state, mt_note_put, &note);
		mt_state_flush(&state);
		free(text);
		return;
	}
	if (!mt_array_append(&r->waiting_notes, (struct mt_waiting_note){level, text}))
		free(text);
}

void mt_recorder_put_waiting_notes(struct mt_recorder *r)
{
	__typeof__(r->waiting_notes) notes = r->waiting_notes;

	memset(&r->waiting_notes, 0, sizeof(r->waiting_notes));
	for (size_t i = 0; i < notes.count; i++)
		mt_recorder_put_note(r, notes.items[i].level, notes.items[i].text);
	mt_array_deinit(&notes);
}

void mt_recorder_say(struct mt_recorder *r, int level, const char *format, ...)
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
		mt_recorder_put_note(r, (uint32_t)level, text);
	else
		free(text);
}

struct mt_stream_counts mt_recorder_sum_counts(const struct mt_recorder *r)
{
	struct mt_stream_counts sum = {0};

	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_add_counts(r->drains.items[i], &sum);
	return sum;
}

void mt_recorder_stop_drains(struct mt_recorder *r)
{
	for (size_t i = 0; i < r->drains.count; i++)
		mt_drain_stop(r->drains.items[i]);
}

/* ---- Targets ---- */

/* Returns true if the thread does not exist, which explains why no event was opened for it. */
static bool is_gone(pid_t tid)
{
	return kill(tid, 0) && errno == ESRCH;
}

static struct mt_error *open_tasks(const struct mt_record_options *options,
				   struct mt_event_set *opened)
{
	struct mt_error *err = NULL;
	size_t before;

	for (size_t i = 0; i < options->pids.count && !err; i++)
		err = mt_event_set_add_process(opened, options->pids.items[i]);
	for (size_t i = 0; i < options->tids.count && !err; i++) {
		before = opened->events.count;
		err = mt_event_set_add_task(opened, options->tids.items[i], false);
		if (!err && opened->events.count == before && is_gone(options->tids.items[i]))
			err = mt_error_create(MT_ERR_NOT_FOUND, "-t: there is no thread %d",
					      options->tids.items[i]);
	}
	return err;
}

struct mt_error *mt_targets_open(const struct mt_record_options *options,
				 const struct mt_command *command, struct mt_event_set *opened)
{
	if (mt_options_target_cpus(options))
		return mt_event_set_add_cpus(opened);
	if (mt_options_target_tasks(options))
		return open_tasks(options, opened);
	return mt_event_set_add_task(opened, command->pid, true);
}

void mt_targets_each(const struct mt_record_options *options,
		     void (*each)(void *context, pid_t pid), void *context)
{
	if (mt_options_target_cpus(options))
		mt_existing_each(each, context);
	for (size_t i = 0; i < options->pids.count; i++)
		each(context, options->pids.items[i]);
	for (size_t i = 0; i < options->tids.count; i++)
		each(context, mt_existing_pid_of(options->tids.items[i]));
}

bool mt_targets_watch(const struct mt_record_options *options, struct mt_waiting *waiting)
{
	for (size_t i = 0; i < options->pids.count; i++) {
		if (!mt_waiting_add_target(waiting, options->pids.items[i]))
			return false;
	}
	for (size_t i = 0; i < options->tids.count; i++) {
		if (!mt_waiting_add_target(waiting, options->tids.items[i]))
			return false;
	}
	return true;
}
