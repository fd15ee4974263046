/* Messages of the recorder, for the user and for the recording; and its drains. */
#include "record/recorder_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/records/record.h"
#include "record/recorder.h"
#include "record/rings/state_writer.h"

/* Writes a NOTE now, or as soon as there is a recording. Takes text. */
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

/* Levels 0 and 1 are also written into the recording. */
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
