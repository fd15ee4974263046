/*
 * Reads the file twice: first in order of time, as every report does, to unwind stacks and keep
 * each sample's file position and stack number; then chunk by chunk, to replace each stack by
 * position.
 */
#include "report/copies/strip.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/chunks/chunk.h"
#include "formats/reader.h"
#include "formats/records/attr.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"
#include "formats/stacks/stripping.h"
#include "formats/writer.h"
#include "report/session/session.h"
#include "report/tables/byte_runs.h"
#include "report/tables/text.h"
#include "unwind/unwind.h"

/* The stack of a sample, by the sample's position in the file. */
struct stacked {
	struct mt_place place;
	uint32_t stack;
};

/* Header of a stack in `stacks`; its pcs and then its sources follow. */
struct stack_front {
	uint16_t end, walked_end;
	uint32_t count;
};

/* An event, by its number in the recording that is copied. */
struct event {
	struct mt_attr attr;
	uint32_t kept; /* the registers that are kept */
};

struct strip {
	struct mt_strip_counts counts;
	const char *by;
	struct mt_byte_runs *stacks;
	MT_ARRAY(uint64_t) words; /* scratch: the stack being added */
	MT_ARRAY(struct stacked) samples;
	struct mt_map64 by_index; /* EVENT index to index in events */
	MT_ARRAY(struct event) events;
	struct mt_stripping stripping;
};

static void strip_deinit(struct strip *s)
{
	mt_byte_runs_destroy(s->stacks);
	mt_array_deinit(&s->words);
	mt_array_deinit(&s->samples);
	mt_map64_deinit(&s->by_index);
	mt_array_deinit(&s->events);
	mt_stripping_deinit(&s->stripping);
}

/* ---- First pass: the stacks ---- */

/* Encodes the user half of a stack as in a FRAMES record; false if it has too many frames. */
static bool spell_stack(struct strip *s, const struct mt_session_sample *sample, size_t *size)
{
	size_t count = sample->frames - sample->kernel_frames;
	struct stack_front front = {sample->end, sample->walked_end, (uint32_t)count};
	uint64_t *pcs;
	uint8_t *sources;

	*size = sizeof(front) + count * 9;
	if (count > MT_UNWOUND_MAX)
		return false;
	(void)mt_array_reserve(&s->words, count * 2 + 2);
	memcpy(s->words.items, &front, sizeof(front));
	pcs = s->words.items + 1;
	sources = (uint8_t *)(pcs + count);
	for (size_t i = 0; i < count; i++) {
		size_t at = sample->kernel_frames + i;
		bool after = sample->addresses[at] != sample->pcs[at];

		pcs[i] = sample->addresses[at];
		sources[i] = sample->sources[at] | (uint8_t)(after ? MT_UNWOUND_RETURN : 0);
	}
	return true;
}

/* False with too many frames. */
static bool keep_stack(struct strip *s, const struct mt_session_sample *sample)
{
	struct stacked stacked = {.place = sample->place};
	size_t size;

	if (!spell_stack(s, sample, &size))
		return false;
	stacked.stack = mt_byte_runs_intern(s->stacks, s->words.items, size);
	mt_array_append(&s->samples, stacked);
	return true;
}

static int compare_places(const void *a, const void *b)
{
	const struct mt_place *x = a, *y = b;

	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static struct mt_error *read_stacks(struct strip *s, struct mt_session *session)
{
	struct mt_session_sample sample;
	struct mt_error *err;
	bool more = true;

	while (more) {
		err = mt_session_next(session, &sample, &more);
		if (err)
			return err;
		if (more && (sample.kernel->dump_asked || sample.kernel->user_abi) &&
		    !keep_stack(s, &sample))
			return mt_error_create(MT_ERR_UNSUPPORTED,
					       "--strip: a stack has more than %d frames",
					       (int)MT_UNWOUND_MAX);
	}
	if (s->samples.count)
		qsort(s->samples.items, s->samples.count, sizeof(*s->samples.items),
		      compare_places);
	return NULL;
}

/* ---- Second pass: the copy ---- */

static struct mt_error *begin_recording(void *context, size_t recording)
{
	struct strip *s = context;

	(void)recording;
	mt_map64_deinit(&s->by_index);
	s->events.count = 0;
	return NULL;
}

static struct mt_error *learn_event(void *context, const struct mt_record *record)
{
	struct strip *s = context;
	struct mt_event_record reported;
	struct event event;
	uint64_t unused;

	if (record->type != MT_RECORD_EVENT ||
	    !mt_event_get(record->body, record->size, &reported) ||
	    mt_map64_get(&s->by_index, reported.index, &unused) ||
	    !mt_attr_decode(reported.attr.bytes, reported.attr.size, &event.attr))
		return NULL;
	event.kept = mt_stripping_registers(&reported.name);
	*mt_map64_element(&s->by_index, &s->events, reported.index) = event;
	return NULL;
}

static const struct event *find_event(const struct strip *s, uint32_t index)
{
	uint64_t at;

	return mt_map64_get(&s->by_index, index, &at) ? &s->events.items[at] : NULL;
}

/* The stack of the sample at a position; NULL for a sample that no report reads. */
static struct mt_unwound find_stack(const struct strip *s, const struct mt_place *place)
{
	static const uint64_t none[1];
	struct mt_unwound unwound = {.pcs = none,
				     .sources = (const uint8_t *)none,
				     .end = MT_END_UNREPORTED,
				     .walked_end = MT_END_UNREPORTED};
	struct stacked key = {.place = *place};
	const struct stacked *found = NULL;
	struct stack_front front;
	const uint8_t *bytes;
	size_t size;

	if (s->samples.count)
		found = bsearch(&key, s->samples.items, s->samples.count, sizeof(key),
				compare_places);
	if (!found)
		return unwound;
	bytes = mt_byte_runs_get(s->stacks, found->stack, &size);
	memcpy(&front, bytes, sizeof(front));
	unwound.end = front.end;
	unwound.walked_end = front.walked_end;
	unwound.count = front.count;
	unwound.pcs = (const uint64_t *)(const void *)(bytes + sizeof(front));
	unwound.sources = bytes + sizeof(front) + 8 * (size_t)front.count;
	return unwound;
}

/* Puts the FRAMES record that replaces a sample; false if the block is full. */
static bool put_frames(struct strip *s, const struct event *event, const struct mt_sample *sample,
		       const struct mt_record *record, struct mt_kernel_bytes *b,
		       struct mt_block *block)
{
	if (!mt_stripping_take_out(&s->stripping, &event->attr, event->kept, sample, b))
		return false;
	if (!sample->unwound.pcs)
		b->unwound = find_stack(s, &record->place);
	if (!mt_unwound_put(block, record->time, b))
		return false;
	s->counts.stacks += sample->dump_asked && !sample->unwound.pcs;
	s->counts.frames += b->unwound.count;
	return true;
}

static bool strip_record(void *context, const struct mt_record *record, struct mt_block *block,
			 bool *same)
{
	struct strip *s = context;
	const struct event *event;
	struct mt_kernel_bytes b;
	struct mt_sample sample;
	bool good = mt_record_kernel_get(record, &b) && b.kernel_size >= 8;

	*same = good && mt_get_le32(b.kernel) != MT_KERNEL_SAMPLE;
	if (*same)
		return true;
	event = good ? find_event(s, b.event) : NULL;
	if (!event || !mt_stripping_understand(&event->attr, &b, &sample)) {
		s->counts.left_out++;
		return true;
	}
	*same = !sample.dump_asked && !sample.user_abi;
	return *same || put_frames(s, event, &sample, record, &b, block);
}

/* Notes in the recording how it was changed. */
static struct mt_error *add_info(void *context, size_t recording, struct mt_writer *writer)
{
	static const char key[] = "stripped";
	const struct strip *s = context;
	struct mt_info_record info = {
		.key = {key, sizeof(key) - 1},
		.value = {s->by, strlen(s->by)},
	};
	uint8_t bytes[512];
	struct mt_block block = {.bytes = bytes, .capacity = sizeof(bytes)};

	(void)recording;
	mt_block_reset(&block, MT_CHUNK_STATE, 0);
	if (!mt_info_put(&block, &info))
		return mt_error_nomem();
	return mt_writer_write(writer, &block, 0);
}

struct mt_error *mt_strip(struct mt_session *session, const char *path, const char *by, int fd,
			  struct mt_strip_counts *out)
{
	MT_CLEANUP(strip_deinit) struct strip s = {.by = by, .stacks = mt_byte_runs_create()};
	const struct mt_rewrite how = {
		.context = &s,
		.begin = begin_recording,
		.statement = learn_event,
		.data = strip_record,
		.finish = add_info,
	};
	struct mt_error *err;

	if (!s.stacks)
		return mt_error_nomem();
	err = read_stacks(&s, session);
	err = err ? err : mt_rewrite_file(path, fd, &how, &s.counts.copied);
	if (err)
		return err;
	s.counts.distinct = mt_byte_runs_count(s.stacks);
	*out = s.counts;
	return NULL;
}

void mt_strip_print(const struct mt_strip_counts *counts, const char *tool, const char *path,
		    FILE *to)
{
	const struct mt_strip_counts *c = counts;

	if (!c->stacks) {
		fprintf(to, "%s: %s: no stack had raw bytes any more; %s bytes became %s\n", tool,
			path, mt_text_count((double)c->copied.read).text,
			mt_text_count((double)c->copied.written).text);
		return;
	}
	fprintf(to,
		"%s: %s: %s stacks, %s of them different, in the place of their raw bytes; %s "
		"bytes became %s\n",
		tool, path, mt_text_count((double)c->stacks).text,
		mt_text_count((double)c->distinct).text, mt_text_count((double)c->copied.read).text,
		mt_text_count((double)c->copied.written).text);
}
