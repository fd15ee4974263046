/*
 * The source of folded stacks: `comm;root;leaf 12`, or two counts, as difffolded.pl writes them.
 * Folded stacks hold names, not addresses, so nothing is unwound or symbolized. Each line becomes a
 * sample of a software event, with the names of its frames (mt_record.reported). A COMM record
 * precedes the sample if the command differs from that of the previous line. One EVENT record comes
 * first. Output of perf script is recognized, and refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/base/strings.h"
#include "formats/chunks/chunk.h"
#include "formats/reading/input.h"
#include "formats/reading/source.h"
#include "formats/records/events.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"

enum kind {
	KIND_NONE,
	KIND_FOLDED,
	KIND_PAIRS,  /* folded, with two counts a line: before and now */
	KIND_SCRIPT, /* output of perf script: recognized, and refused */
};

enum {
	LINE_MAX_SIZE = 1 << 20, /* bytes; longer lines are left out */
	FRAMES_MAX = 65536,	 /* of a sample */
	HEAD_LINES = 64,	 /* bytes of a file that are probed */
	ATTR_SIZE = 64,
	ATTR_PERIOD = 16, /* offsets in struct perf_event_attr */
	ATTR_SAMPLE_TYPE = 24,
	COMM_MAX = 256,
	EVENT = 1, /* index of the only event */
	SAMPLE_TYPE = MT_SAMPLE_TID | MT_SAMPLE_TIME | MT_SAMPLE_CPU | MT_SAMPLE_PERIOD,
	SAMPLE_SIZE = 8 + 8 + 8 + 8 + 8,
};

/* The next record to return for a sample. */
enum stage {
	STAGE_READ, /* none: the next line is read */
	STAGE_EVENT,
	STAGE_COMM,
	STAGE_SAMPLE,
	STAGE_BAD, /* a record that counts as undecodable, for a malformed line */
};

/* Reads a file line by line in bounded memory. */
struct lines {
	const struct mt_input *input;
	char *buffer;	 /* LINE_MAX_SIZE bytes */
	uint64_t offset; /* offset in the file of the next read */
	size_t at, end;
};

typedef MT_ARRAY(struct mt_reported_frame) reported_frames;

struct text_source {
	const struct mt_input *input;
	enum kind kind;
	bool before; /* read the first of two counts, not the second */
	struct mt_recording recording;
	struct lines lines;
	enum stage stage;
	struct mt_text command; /* of the line */
	reported_frames frames;
	struct mt_reported_stack reported;
	struct mt_strings *comms;
	uint32_t comm; /* id of the last command */
	bool event_given;
	uint64_t body[(8 + 8 + COMM_MAX) / 8];
	uint8_t event_bytes[1024];
};

/* ---- Lines ---- */

static struct mt_text trim(struct mt_text text)
{
	while (text.size && (*text.bytes == ' ' || *text.bytes == '\t')) {
		text.bytes++;
		text.size--;
	}
	while (text.size && (text.bytes[text.size - 1] == ' ' || text.bytes[text.size - 1] == '\t'))
		text.size--;
	return text;
}

static bool ends_with(struct mt_text text, const char *word)
{
	size_t size = strlen(word);

	return text.size >= size && !memcmp(text.bytes + text.size - size, word, size);
}

/* The next line is the first one. */
static void lines_begin(struct lines *lines)
{
	lines->offset = 0;
	lines->at = lines->end = 0;
}

/* Moves the remaining bytes to the buffer's start and reads on. */
static struct mt_error *fill(struct lines *lines, size_t *got)
{
	struct mt_error *err;

	memmove(lines->buffer, lines->buffer + lines->at, lines->end - lines->at);
	lines->end -= lines->at;
	lines->at = 0;
	err = mt_input_read(lines->input, lines->offset, lines->buffer + lines->end,
			    LINE_MAX_SIZE - lines->end, got);
	if (err)
		return err;
	lines->end += *got;
	lines->offset += *got;
	return NULL;
}

/* Takes `size` bytes and the newline after them. */
static struct mt_text take(struct lines *lines, size_t size, size_t newline)
{
	struct mt_text line = {lines->buffer + lines->at, size};

	lines->at += size + newline;
	line.size -= size && line.bytes[size - 1] == '\r';
	return line;
}

/*
 * The next line without its newline, borrowed until the next call; *more is false at the end. A
 * line that is too long is returned as NULL bytes.
 */
static struct mt_error *next_line(struct lines *lines, struct mt_text *out, bool *more)
{
	bool too_long = false;
	size_t passed = 0, got = 1;

	*more = true;
	while (got) {
		const char *begin = lines->buffer + lines->at;
		size_t left = lines->end - lines->at;
		const char *end = memchr(begin + passed, '\n', left - passed);
		struct mt_error *err;

		if (end) {
			*out = take(lines, (size_t)(end - begin), 1);
			break;
		}
		too_long |= left == LINE_MAX_SIZE;
		lines->at += left == LINE_MAX_SIZE ? left : 0;
		passed = lines->end - lines->at;
		err = fill(lines, &got);
		if (err)
			return err;
	}
	if (!got) {
		*more = lines->end > lines->at || too_long;
		*out = take(lines, lines->end - lines->at, 0);
	}
	if (too_long)
		*out = (struct mt_text){0};
	return NULL;
}

/* The number at the end of the text, and the text before it; false if there is no number. */
static bool take_number(struct mt_text *text, double *out)
{
	struct mt_text rest = trim(*text);
	size_t from = rest.size;
	double value = 0, part = 1;
	bool point = false, digits = false;

	while (from && (rest.bytes[from - 1] == '.' ||
			(rest.bytes[from - 1] >= '0' && rest.bytes[from - 1] <= '9')))
		from--;
	if (!from || from == rest.size ||
	    (rest.bytes[from - 1] != ' ' && rest.bytes[from - 1] != '\t'))
		return false;
	for (size_t i = from; i < rest.size; i++) {
		if (rest.bytes[i] == '.') {
			if (point || !digits)
				return false;
			point = true;
			continue;
		}
		digits = true;
		value = 10 * value + (rest.bytes[i] - '0');
		part *= point ? 10 : 1;
	}
	*out = value / part;
	text->size = (size_t)(rest.bytes - text->bytes) + from;
	return *out < 1e18;
}

/*
 * Parses the counts at a folded line's end, one or two, and the text before them. False if the line
 * is not folded.
 */
static bool folded_counts(struct mt_text line, size_t counts, struct mt_text *path, double out[2])
{
	double last, first = 0;
	struct mt_text text = line;

	if (!take_number(&text, &last) || (counts == 2 && !take_number(&text, &first)))
		return false;
	out[0] = counts == 2 ? first : last;
	out[1] = last;
	*path = trim(text);
	return path->size;
}

/* Reads the suffixes of names that flamegraph.pl knows: kernel, inlined, made by a JIT compiler. */
static struct mt_reported_frame frame_of(struct mt_text name)
{
	struct mt_reported_frame frame = {.name = name, .dso = {"[unknown]", 9}};

	frame.kernel = ends_with(name, "_[k]");
	frame.inlined = ends_with(name, "_[i]");
	if (ends_with(name, "_[j]"))
		frame.dso = (struct mt_text){"[anon]", 6};
	if (frame.kernel)
		frame.dso = (struct mt_text){"[kernel.kallsyms]", 17};
	if (frame.kernel || frame.inlined || frame.dso.size == 6)
		frame.name.size -= 4;
	if (!frame.name.size)
		frame.name = (struct mt_text){"[unknown]", 9};
	return frame;
}

/*
 * Splits a folded line's path. Its first name is the command, as stackcollapse-perf.pl writes it;
 * the others become frames, innermost first.
 */
static void folded_path(struct mt_text path, struct mt_text *comm, reported_frames *frames)
{
	const char *begin = path.bytes, *end = begin + path.size;

	frames->count = 0;
	while (end > begin && frames->count < FRAMES_MAX) {
		const char *mark = memrchr(begin, ';', (size_t)(end - begin));

		if (!mark)
			break;
		(void)mt_array_append(
			frames, frame_of((struct mt_text){mark + 1, (size_t)(end - mark) - 1}));
		end = mark;
	}
	*comm = (struct mt_text){begin, (size_t)(end - begin)};
}

/* ---- Kind of the file ---- */

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
		if (!folded_counts(line, counts, &path, values))
			return false;
		lines++;
	}
	return lines;
}

/*
 * A sample's line has `[002] 5678.123456:`, a frame is `55d0c0ffee12 grow+0x12 (/usr/bin/grower)`.
 */
static bool is_script_line(struct mt_text line)
{
	char text[1024], close;
	const char *bracket;
	int used = 0;

	snprintf(text, sizeof(text), "%.*s", (int)(line.size < sizeof(text) ? line.size : 0),
		 line.bytes);
	for (bracket = strchr(text, '['); bracket; bracket = strchr(bracket + 1, '[')) {
		if (sscanf(bracket, "[%*u] %*u.%*u%c", &close) == 1 && close == ':')
			return true;
	}
	return (*text == ' ' || *text == '\t') && sscanf(text, "%*x %*[^(](%n", &used) == 0 &&
	       used && ends_with(line, ")");
}

static bool is_script(const char *head, size_t size)
{
	const char *at = head;
	struct mt_text line;

	for (int i = 0; i < HEAD_LINES && head_line(&at, head + size, size < MT_PROBE_SIZE, &line);
	     i++) {
		if (is_script_line(line))
			return true;
	}
	return false;
}

/* The kind of a file that begins with these bytes: the whole file, or as much as a probe gets. */
static enum kind kind_of(const char *head, size_t size)
{
	size = size < MT_PROBE_SIZE ? size : MT_PROBE_SIZE;
	if (memchr(head, 0, size))
		return KIND_NONE;
	if (is_folded(head, size, 2))
		return KIND_PAIRS;
	if (is_folded(head, size, 1))
		return KIND_FOLDED;
	return is_script(head, size) ? KIND_SCRIPT : KIND_NONE;
}

static bool text_probe(const uint8_t *head, size_t size)
{
	return kind_of((const char *)head, size) != KIND_NONE;
}

/* ---- Opening ---- */

static void text_destroy(void *of)
{
	struct text_source *source = of;

	if (!source)
		return;
	free(source->lines.buffer);
	mt_array_deinit(&source->frames);
	mt_strings_destroy(source->comms);
	free(source);
}

MT_DEFINE_CLEANUP(text, void)

static struct mt_error *text_rewind(void *of, size_t i)
{
	struct text_source *source = of;

	(void)i;
	lines_begin(&source->lines);
	source->comm = MT_STRING_NONE;
	source->event_given = false;
	source->stage = STAGE_READ;
	source->recording.damage = (struct mt_damage){0};
	return NULL;
}

static void describe(struct text_source *source)
{
	struct mt_recording *r = &source->recording;

	r->foreign =
		source->kind == KIND_PAIRS ? "folded stacks, two counts a line" : "folded stacks";
	r->reported = true;
	r->pairs = source->kind == KIND_PAIRS;
	r->header.clock = MT_CLOCK_PERF;
	r->size = r->raw_bytes = source->input->size;
	r->has_end = true;
	r->end = (struct mt_end_record){.raw_bytes = r->raw_bytes};
}

static struct mt_error *refuse_script(void)
{
	struct mt_error *err = mt_error_create(
		MT_ERR_FORMAT, "is the text that perf script prints, not a recording");

	return mt_error_hint(err, "give the perf.data file itself");
}

static struct mt_error *text_open(const struct mt_input *input,
				  const struct mt_reader_options *options, void **out)
{
	MT_CLEANUP(text_destroy_p) void *owned = mt_alloc(1, sizeof(struct text_source));
	struct text_source *source = owned;
	struct mt_error *err;
	size_t got = 0;

	source->input = source->lines.input = input;
	source->before = options->before;
	source->lines.buffer = mt_alloc(LINE_MAX_SIZE, 1);
	source->comms = mt_strings_create();
	err = mt_input_read(input, 0, source->lines.buffer, MT_PROBE_SIZE, &got);
	source->kind = kind_of(source->lines.buffer, got);
	if (!err && source->kind == KIND_SCRIPT)
		err = refuse_script();
	if (err)
		return err;
	describe(source);
	(void)text_rewind(source, 0);
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

static void read_folded(struct text_source *source, struct mt_text line)
{
	struct mt_text path;
	double counts[2]; /* of pairs: before and now */

	if (*line.bytes == '#')
		return;
	if (!folded_counts(line, source->kind == KIND_PAIRS ? 2 : 1, &path, counts)) {
		source->stage = STAGE_BAD;
		return;
	}
	source->reported.weight = counts[!source->before];
	if (!source->reported.weight)
		return;
	folded_path(path, &source->command, &source->frames);
	source->stage = STAGE_EVENT;
}

/* Reads lines up to the next one that makes a record. */
static struct mt_error *read_sample(struct text_source *source, bool *more)
{
	while (source->stage == STAGE_READ) {
		struct mt_text line;
		struct mt_error *err = next_line(&source->lines, &line, more);

		if (err || !*more)
			return err;
		if (!line.bytes)
			source->stage = STAGE_BAD;
		else if (trim(line).size)
			read_folded(source, line);
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
		.body = bytes,
		.size = size,
		.bare = true,
		.event = EVENT,
	};
}

/* The EVENT record, once; *new is false otherwise. */
static struct mt_error *give_event(struct text_source *source, struct mt_record *out, bool *new)
{
	static const char name[] = "folded";
	const char *unit = mt_event_unit(name, strlen(name));
	uint8_t attr[ATTR_SIZE] = {0};
	struct mt_block block = {.bytes = source->event_bytes,
				 .capacity = sizeof(source->event_bytes)};
	const struct mt_event_record record = {
		.index = EVENT,
		.role = MT_ROLE_SAMPLE,
		.pair = MT_EVENT_NONE,
		.class = MT_CLASS_STORM,
		.name = {name, strlen(name)},
		.unit = {unit, strlen(unit)},
		.attr = {(const char *)attr, sizeof(attr)},
	};

	*new = !source->event_given;
	if (!*new)
		return NULL;
	source->event_given = true;
	mt_put_le32(attr, 1); /* PERF_TYPE_SOFTWARE */
	mt_put_le32(attr + 4, ATTR_SIZE);
	mt_put_le64(attr + ATTR_PERIOD, 1);
	mt_put_le64(attr + ATTR_SAMPLE_TYPE, SAMPLE_TYPE);
	mt_block_reset(&block, MT_CHUNK_STATE, 0);
	if (!mt_event_put(&block, &record))
		return mt_error_nomem();
	*out = (struct mt_record){
		.type = mt_get_le32(block.bytes),
		.body = block.bytes + MT_RECORD_HEADER_SIZE,
		.size = block.used - MT_RECORD_HEADER_SIZE,
	};
	return NULL;
}

/* A COMM record if the command differs from the last one; *new is false otherwise. */
static void give_comm(struct text_source *source, struct mt_record *out, bool *new)
{
	const struct mt_text *comm = &source->command;
	size_t size = comm->size < COMM_MAX - 1 ? comm->size : COMM_MAX - 1;
	uint32_t id = mt_strings_intern(source->comms, comm->bytes, size);
	uint8_t *bytes = (uint8_t *)source->body;

	*new = source->comm != id;
	if (!*new)
		return;
	source->comm = id;
	memset(bytes, 0, sizeof(source->body));
	mt_put_le64(bytes + 8, UINT64_MAX); /* pid and tid: not known */
	memcpy(bytes + 16, comm->bytes, size);
	give_kernel(source, MT_KERNEL_COMM, 16 + (size + 8) / 8 * 8, out);
}

static void give_sample(struct text_source *source, struct mt_record *out)
{
	uint8_t *bytes = (uint8_t *)source->body;

	mt_put_le64(bytes + 8, UINT64_MAX);  /* pid and tid: not known */
	mt_put_le64(bytes + 16, 0);	     /* time */
	mt_put_le64(bytes + 24, UINT32_MAX); /* CPU: not known */
	mt_put_le64(bytes + 32, 1);	     /* period */
	give_kernel(source, MT_KERNEL_SAMPLE, SAMPLE_SIZE, out);
	source->reported.frames = source->frames.items;
	source->reported.count = source->frames.count;
	out->reported = &source->reported;
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
			give_comm(source, out, &given);
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
	.name = "folded stacks",
	.probe = text_probe,
	.open = text_open,
	.destroy = text_destroy,
	.recordings = text_recordings,
	.recording = text_recording,
	.rewind = text_rewind,
	.next = text_next,
	.release = text_release,
};
