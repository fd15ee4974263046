/*
 * The source of stacks as text. Each sample is given as a kernel record of a software event, with
 * the names of its frames beside it (mt_record.told), after a COMM record where its thread has
 * another name than before, and an EVENT record where its event is new.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/chunks/chunk.h"
#include "formats/events.h"
#include "formats/input.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "formats/source.h"
#include "formats/text/told_text.h"

enum {
	HEAD_LINES = 64,     /* of it that are looked at */
	TAIL_SIZE = 1 << 20, /* of a file: where the last time is looked for */
	ATTR_SIZE = 64,
	ATTR_PERIOD = 16, /* offsets in struct perf_event_attr */
	ATTR_SAMPLE_TYPE = 24,
	COMM_MAX = 256,
	EVENT_MAX = 4096, /* bytes of a name */
	EVENTS_MAX = 4096,
	SAMPLE_TYPE = MT_SAMPLE_TID | MT_SAMPLE_TIME | MT_SAMPLE_CPU | MT_SAMPLE_PERIOD,
	SAMPLE_SIZE = 8 + 8 + 8 + 8 + 8,
};

/* What of a sample is given next. */
enum stage {
	STAGE_READ, /* nothing: the next one is read */
	STAGE_EVENT,
	STAGE_COMM,
	STAGE_SAMPLE,
	STAGE_BAD, /* a record that counts as undecodable, for a line without a meaning */
};

struct text_source {
	const struct mt_input *input;
	enum mt_text_kind kind;
	bool before; /* of pairs: the first count, not the second */
	struct mt_recording recording;
	struct mt_text_lines lines;
	enum stage stage;
	struct mt_text_sample sample;
	mt_told_frames frames;
	struct mt_told told;
	char *text; /* of a sample of several lines: MT_TEXT_STACK_MAX bytes */
	size_t text_used;
	struct mt_strings *events; /* from id 1 on: the events by index */
	struct mt_strings *comms;
	struct mt_map64 comm_of; /* tid to the id of its name */
	size_t events_given;
	uint32_t event;
	uint64_t body[(8 + 8 + COMM_MAX) / 8];
	uint8_t event_bytes[EVENT_MAX + 1024];
};

/* ---- What kind it is ---- */

/* The next complete line of a file's first bytes. */
static bool head_line(const char **at, const char *end, bool whole, struct mt_text *out)
{
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));

	if (*at == end || (!newline && !whole))
		return false;
	newline = newline ? newline : end;
	*out = (struct mt_text){*at, (size_t)(newline - *at)};
	out->size -= out->size && out->bytes[out->size - 1] == '\r';
	*at = newline + (newline < end);
	return true;
}

static bool is_folded(const char *head, size_t size, size_t counts)
{
	const char *at = head;
	struct mt_text line, path;
	double values[2];
	int lines = 0;

	while (lines < HEAD_LINES && head_line(&at, head + size, size < MT_PROBE_SIZE, &line)) {
		if (!line.size || *line.bytes == '#')
			continue;
		if (!mt_folded_counts(line, counts, &path, values))
			return false;
		lines++;
	}
	return lines;
}

/* The first line that is no comment begins a sample, and the next one is a frame, or another. */
static bool is_script(const char *head, size_t size)
{
	const char *at = head;
	struct mt_text_sample sample;
	struct mt_told_frame frame;
	struct mt_text line;
	int lines = 0;

	while (lines < 2 && head_line(&at, head + size, size < MT_PROBE_SIZE, &line)) {
		if (!line.size || *line.bytes == '#')
			continue;
		if (!mt_script_head(line, &sample) && !(lines && mt_script_frame(line, &frame)))
			return false;
		lines++;
	}
	return lines;
}

enum mt_text_kind mt_text_kind_of(const char *head, size_t size)
{
	size = size < MT_PROBE_SIZE ? size : MT_PROBE_SIZE;
	if (memchr(head, 0, size))
		return MT_TEXT_NONE;
	if (is_script(head, size))
		return MT_TEXT_SCRIPT;
	if (is_folded(head, size, 2))
		return MT_TEXT_PAIRS;
	return is_folded(head, size, 1) ? MT_TEXT_FOLDED : MT_TEXT_NONE;
}

static bool text_probe(const uint8_t *head, size_t size)
{
	return mt_text_kind_of((const char *)head, size) != MT_TEXT_NONE;
}

/* ---- Opening ---- */

static void text_destroy(void *of)
{
	struct text_source *source = of;

	if (!source)
		return;
	free(source->lines.buffer);
	free(source->text);
	mt_array_deinit(&source->frames);
	mt_strings_destroy(source->events);
	mt_strings_destroy(source->comms);
	mt_map64_deinit(&source->comm_of);
	free(source);
}

MT_DEFINE_CLEANUP(text, void)

static struct mt_error *text_rewind(void *of, size_t i)
{
	struct text_source *source = of;

	(void)i;
	mt_text_lines_begin(&source->lines, 0);
	mt_map64_deinit(&source->comm_of);
	source->events_given = 0;
	source->stage = STAGE_READ;
	source->recording.damage = (struct mt_damage){0};
	return NULL;
}

/* The times of the first and last heads between two places. perf prints samples in order. */
static struct mt_error *find_times(struct text_source *source, uint64_t from, uint64_t *first,
				   uint64_t *last)
{
	struct mt_text_sample sample;
	struct mt_text line;
	struct mt_error *err;
	bool more;

	mt_text_lines_begin(&source->lines, from);
	for (;;) {
		err = mt_text_lines_next(&source->lines, &line, &more);
		if (err || !more || source->lines.offset > from + 2 * TAIL_SIZE)
			return err;
		if (!mt_script_head(line, &sample) || !sample.time)
			continue;
		*first = *first ? *first : sample.time;
		*last = sample.time;
	}
}

static struct mt_error *describe(struct text_source *source)
{
	static const char *const names[] = {[MT_TEXT_FOLDED] = "folded stacks",
					    [MT_TEXT_PAIRS] = "folded stacks, two counts a line",
					    [MT_TEXT_SCRIPT] = "what perf script prints"};
	struct mt_recording *r = &source->recording;
	uint64_t from = source->input->size > TAIL_SIZE ? source->input->size - TAIL_SIZE : 0,
		 unused = 0;
	struct mt_error *err = NULL;

	r->foreign = names[source->kind];
	r->told = true;
	r->pairs = source->kind == MT_TEXT_PAIRS;
	r->header.clock = MT_CLOCK_PERF;
	r->size = r->raw_bytes = source->input->size;
	r->has_end = true;
	if (source->kind == MT_TEXT_SCRIPT) {
		err = find_times(source, 0, &r->first_time, &r->last_time);
		err = err ? err : find_times(source, from, &unused, &r->last_time);
	}
	r->end = (struct mt_end_record){
		.start = r->first_time, .end = r->last_time, .raw_bytes = r->raw_bytes};
	return err;
}

static struct mt_error *text_open(const struct mt_input *input,
				  const struct mt_reader_options *options, void **out)
{
	MT_CLEANUP(text_destroy_p) void *owned = calloc(1, sizeof(struct text_source));
	struct text_source *source = owned;
	struct mt_error *err;
	size_t got = 0;

	if (!source)
		return mt_error_nomem();
	source->input = source->lines.input = input;
	source->before = options->before;
	source->lines.buffer = malloc(MT_TEXT_LINE_MAX);
	source->text = malloc(MT_TEXT_STACK_MAX);
	source->events = mt_strings_create();
	source->comms = mt_strings_create();
	if (!source->lines.buffer || !source->text || !source->events || !source->comms)
		return mt_error_nomem();
	err = mt_input_read(input, 0, source->lines.buffer, MT_PROBE_SIZE, &got);
	source->kind = mt_text_kind_of(source->lines.buffer, got);
	err = err ? err : describe(source);
	err = err ? err : text_rewind(source, 0);
	if (err)
		return err;
	*out = MT_TAKE(owned);
	return NULL;
}

static size_t text_recordings(const void *of)
{
	(void)of;
	return 1;
}

static const struct mt_recording *text_recording(const void *of, size_t i)
{
	(void)i;
	return &((const struct text_source *)of)->recording;
}

/* ---- Samples ---- */

/* Keeps a line of a sample; false where it has no room. */
static bool keep(struct text_source *source, struct mt_text *line)
{
	char *to = source->text + source->text_used;

	if (line->size > MT_TEXT_STACK_MAX - source->text_used)
		return false;
	memcpy(to, line->bytes, line->size);
	line->bytes = to;
	source->text_used += line->size;
	return true;
}

/* Frames of a sample: the lines up to an empty one, or another sample. */
static struct mt_error *read_frames(struct text_source *source)
{
	struct mt_told_frame frame;
	struct mt_text line;
	bool more;

	for (;;) {
		struct mt_error *err = mt_text_lines_next(&source->lines, &line, &more);
		struct mt_told_frame *slot;

		if (err || !more || !mt_text_trim(line).size)
			return err;
		if (*line.bytes != ' ' && *line.bytes != '\t') {
			source->lines.again = true;
			return NULL;
		}
		/* Lines of source, and branches, stand between frames. */
		if (source->frames.count >= MT_TEXT_FRAMES_MAX || !mt_script_frame(line, &frame) ||
		    !keep(source, &line))
			continue;
		slot = mt_script_frame(line, &frame) ? mt_array_push(&source->frames) : NULL;
		if (!slot)
			return mt_error_nomem();
		*slot = frame;
	}
}

/* Without -g perf prints the one frame behind the event, and of -d the address before it. */
static bool read_tail(struct text_source *source)
{
	struct mt_text tail = source->sample.tail;
	struct mt_told_frame frame, *slot;
	const char *blank = memchr(tail.bytes, ' ', tail.size);

	if (!tail.size)
		return true;
	if (!mt_script_frame(tail, &frame)) {
		if (!blank)
			return true;
		tail.size -= (size_t)(blank - tail.bytes);
		tail.bytes = blank;
		if (!mt_script_frame(tail, &frame))
			return true;
	}
	slot = mt_array_push(&source->frames);
	if (slot)
		*slot = frame;
	return slot;
}

static struct mt_error *read_script(struct text_source *source, struct mt_text line)
{
	struct mt_error *err;

	source->text_used = 0;
	source->frames.count = 0;
	if (*line.bytes == '#')
		return NULL;
	if (!mt_script_head(line, &source->sample) || !keep(source, &line)) {
		source->stage = STAGE_BAD;
		return NULL;
	}
	(void)mt_script_head(line, &source->sample);
	err = read_frames(source);
	if (err)
		return err;
	if (!source->frames.count && !read_tail(source))
		return mt_error_nomem();
	source->told.weight = 1;
	source->stage = STAGE_EVENT;
	return NULL;
}

static struct mt_error *read_folded(struct text_source *source, struct mt_text line)
{
	struct mt_text_sample *sample = &source->sample;
	struct mt_text path;

	if (*line.bytes == '#')
		return NULL;
	*sample = (struct mt_text_sample){
		.event = {"folded", 6}, .pid = -1, .tid = -1, .cpu = UINT32_MAX, .period = 1};
	if (!mt_folded_counts(line, source->kind == MT_TEXT_PAIRS ? 2 : 1, &path, sample->counts)) {
		source->stage = STAGE_BAD;
		return NULL;
	}
	source->told.weight = sample->counts[!source->before];
	if (!source->told.weight)
		return NULL;
	if (!mt_folded_path(path, &sample->comm, &source->frames))
		return mt_error_nomem();
	source->stage = STAGE_EVENT;
	return NULL;
}

/* Reads lines up to something to give. */
static struct mt_error *read_sample(struct text_source *source, bool *more)
{
	while (source->stage == STAGE_READ) {
		struct mt_text line;
		struct mt_error *err = mt_text_lines_next(&source->lines, &line, more);

		if (err || !*more)
			return err;
		if (!line.bytes)
			source->stage = STAGE_BAD;
		else if (mt_text_trim(line).size)
			err = source->kind == MT_TEXT_SCRIPT ? read_script(source, line)
							     : read_folded(source, line);
		if (err)
			return err;
	}
	return NULL;
}

/* ---- Records ---- */

static void give_kernel(struct text_source *source, uint32_t type, size_t size,
			struct mt_record *out)
{
	uint8_t *bytes = (uint8_t *)source->body;

	mt_put_le32(bytes, type);
	mt_put_le16(bytes + 4, 0);
	mt_put_le16(bytes + 6, (uint16_t)size);
	*out = (struct mt_record){
		.type = MT_RECORD_KERNEL,
		.time = source->sample.time,
		.body = bytes,
		.size = size,
		.bare = true,
		.event = source->event,
	};
}

/* The event of the sample, as an EVENT record where it is new; *new false otherwise. */
static struct mt_error *give_event(struct text_source *source, struct mt_record *out, bool *new)
{
	struct mt_text name = source->sample.event;
	uint8_t attr[ATTR_SIZE] = {0};
	struct mt_block block = {.bytes = source->event_bytes,
				 .capacity = sizeof(source->event_bytes)};
	struct mt_event_record record = {
		.role = MT_ROLE_SAMPLE, .pair = MT_EVENT_NONE, .class = MT_CLASS_STORM};
	const char *unit;
	uint32_t id;

	name.size = name.size < EVENT_MAX ? name.size : EVENT_MAX;
	*new = false;
	if (mt_strings_count(source->events) > EVENTS_MAX)
		name = (struct mt_text){"others", 6};
	id = mt_strings_intern(source->events, name.bytes, name.size);
	if (id == MT_STRING_NONE)
		return mt_error_nomem();
	source->event = id;
	if (id <= source->events_given)
		return NULL;
	source->events_given = id;
	mt_put_le32(attr, 1); /* PERF_TYPE_SOFTWARE */
	mt_put_le32(attr + 4, ATTR_SIZE);
	mt_put_le64(attr + ATTR_PERIOD, 1);
	mt_put_le64(attr + ATTR_SAMPLE_TYPE, SAMPLE_TYPE);
	record.index = id;
	record.name = name;
	unit = mt_event_unit(name.bytes, name.size);
	record.unit = (struct mt_text){unit, strlen(unit)};
	record.attr = (struct mt_text){(const char *)attr, sizeof(attr)};
	mt_block_reset(&block, MT_CHUNK_STATE, 0);
	if (!mt_event_put(&block, &record))
		return mt_error_nomem();
	*new = true;
	*out = (struct mt_record){
		.type = mt_get_le32(block.bytes),
		.body = block.bytes + MT_RECORD_HEADER_SIZE,
		.size = block.used - MT_RECORD_HEADER_SIZE,
	};
	return NULL;
}

/* A COMM record where the thread had another name; *new false otherwise. */
static struct mt_error *give_comm(struct text_source *source, struct mt_record *out, bool *new)
{
	const struct mt_text_sample *sample = &source->sample;
	size_t size = sample->comm.size < COMM_MAX - 1 ? sample->comm.size : COMM_MAX - 1;
	uint32_t id = mt_strings_intern(source->comms, sample->comm.bytes, size);
	uint8_t *bytes = (uint8_t *)source->body;
	uint64_t known = MT_STRING_NONE;

	*new = !mt_map64_get(&source->comm_of, (uint32_t)sample->tid, &known) || known != id;
	if (!*new)
		return NULL;
	if (id == MT_STRING_NONE || !mt_map64_put(&source->comm_of, (uint32_t)sample->tid, id))
		return mt_error_nomem();
	memset(bytes, 0, sizeof(source->body));
	mt_put_le32(bytes + 8, (uint32_t)sample->pid);
	mt_put_le32(bytes + 12, (uint32_t)sample->tid);
	memcpy(bytes + 16, sample->comm.bytes, size);
	give_kernel(source, MT_KERNEL_COMM, 16 + (size + 8) / 8 * 8, out);
	return NULL;
}

static void give_sample(struct text_source *source, struct mt_record *out)
{
	const struct mt_text_sample *sample = &source->sample;
	uint8_t *bytes = (uint8_t *)source->body;

	mt_put_le32(bytes + 8, (uint32_t)sample->pid);
	mt_put_le32(bytes + 12, (uint32_t)sample->tid);
	mt_put_le64(bytes + 16, sample->time);
	mt_put_le64(bytes + 24, sample->cpu);
	mt_put_le64(bytes + 32, sample->period);
	give_kernel(source, MT_KERNEL_SAMPLE, SAMPLE_SIZE, out);
	source->told.frames = source->frames.items;
	source->told.count = source->frames.count;
	out->told = &source->told;
}

static struct mt_error *text_next(void *of, struct mt_record *out, bool *more)
{
	struct text_source *source = of;
	struct mt_error *err = NULL;
	bool given = false;

	*more = true;
	while (!err && !given) {
		switch (source->stage) {
		case STAGE_READ:
			err = read_sample(source, more);
			if (!*more)
				return err;
			break;
		case STAGE_EVENT:
			err = give_event(source, out, &given);
			source->stage = STAGE_COMM;
			break;
		case STAGE_COMM:
			err = give_comm(source, out, &given);
			source->stage = STAGE_SAMPLE;
			break;
		case STAGE_SAMPLE:
			give_sample(source, out);
			source->stage = STAGE_READ;
			return NULL;
		case STAGE_BAD:
			give_kernel(source, 0, 0, out);
			source->stage = STAGE_READ;
			return NULL;
		}
	}
	return err;
}

static void text_release(void *of, uint64_t serial)
{
	(void)of;
	(void)serial;
}

const struct mt_source_ops mt_source_text = {
	.name = "stacks as text",
	.probe = text_probe,
	.open = text_open,
	.destroy = text_destroy,
	.recordings = text_recordings,
	.recording = text_recording,
	.rewind = text_rewind,
	.next = text_next,
	.release = text_release,
};
