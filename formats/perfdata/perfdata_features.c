/*
 * Parses the features of a perf.data file, whose bodies are the same in a file's feature sections
 * and in the FEATURE records of piped data. Features that reports use are kept; others, and unknown
 * ones, are skipped. Also parses perf's own records in piped data.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/memory.h"
#include "formats/perfdata/perfdata.h"

#define MAGIC_SIZE 10
#define TYPE_TRACEPOINT 2 /* PERF_TYPE_TRACEPOINT */

typedef void take_feature(struct mt_perf_facts *facts, struct mt_cursor *c);

/* ---- Formats of tracepoints ---- */

static bool is_wanted(const struct mt_perf_facts *facts, uint64_t id)
{
	for (size_t i = 0; i < facts->events.count; i++) {
		const struct mt_attr *attr = &facts->events.items[i].attr;

		if (attr->type == TYPE_TRACEPOINT && attr->config == id)
			return true;
	}
	return false;
}

/* The text after "KEY: " at the beginning of a line, up to the end of the line. */
static const char *find_line(const char *text, size_t size, const char *key, size_t *length)
{
	const char *end = text + size, *line = text;
	size_t wanted = strlen(key);

	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		if ((size_t)(stop - line) > wanted && !memcmp(line, key, wanted)) {
			*length = (size_t)(stop - line) - wanted;
			return line + wanted;
		}
		line = stop + 1;
	}
	return NULL;
}

static void take_format(struct mt_perf_facts *facts, const char *system, const char *text,
			size_t size)
{
	size_t id_length, name_length;
	const char *id_text = find_line(text, size, "ID: ", &id_length),
		   *name = find_line(text, size, "name: ", &name_length);
	struct mt_perf_format *format;
	uint64_t id = 0;

	if (!id_text || !name)
		return;
	for (size_t i = 0; i < id_length && id_text[i] >= '0' && id_text[i] <= '9'; i++)
		id = id * 10 + (uint64_t)(id_text[i] - '0');
	if (!is_wanted(facts, id) || !mt_perf_facts_room(facts, sizeof(*format) + size))
		return;
	format = mt_array_push(&facts->formats);
	format->id = id;
	format->size = size;
	format->text = mt_perf_copy(text, size);
	format->name = mt_format("%s:%.*s", system, (int)name_length, name);
}

/* Takes a u64 size and then that many bytes; NULL if fewer are left. */
static const uint8_t *take_sized(struct mt_cursor *c, size_t *size)
{
	*size = mt_cursor_u64(c);
	return mt_cursor_bytes(c, *size);
}

static void take_system(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	const char *system = mt_cursor_cstring(c);
	uint32_t count = mt_cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->bad; i++) {
		size_t size;
		const uint8_t *text = take_sized(c, &size);

		if (text)
			take_format(facts, system, (const char *)text, size);
	}
}

static void skip_page_formats(struct mt_cursor *c)
{
	size_t size;
	uint32_t count;

	mt_cursor_cstring(c); /* "header_page" */
	take_sized(c, &size);
	mt_cursor_cstring(c); /* "header_event" */
	take_sized(c, &size);
	count = mt_cursor_u32(c); /* number of ftrace's own events */
	for (uint32_t i = 0; i < count && !c->bad; i++)
		take_sized(c, &size);
}

/*
 * Parses TRACING_DATA, a trace.dat header with each tracepoint's format as text. Keeps the formats
 * of the events' tracepoints.
 */
static void take_tracing(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	const uint8_t *magic = mt_cursor_bytes(c, MAGIC_SIZE);
	uint32_t count;
	uint8_t big_endian;

	if (!magic || memcmp(magic, MT_PERF_TRACING_MAGIC, MAGIC_SIZE) != 0)
		return;
	mt_cursor_cstring(c); /* version */
	big_endian = mt_cursor_u8(c);
	mt_cursor_u8(c);  /* bytes of a long */
	mt_cursor_u32(c); /* page size */
	if (big_endian)
		return;
	skip_page_formats(c);
	count = mt_cursor_u32(c);
	for (uint32_t i = 0; i < count && !c->bad; i++)
		take_system(facts, c);
}

/* ---- Features ---- */

/*
 * True for a BUILD_ID record that perf wrote in 2010, without the pid: the first bytes of the
 * kernel's name are where the pid should be.
 */
static bool lacks_pid(const uint8_t *bytes, size_t size)
{
	static const char tail[] = "nel.kallsyms]";
	const size_t at = 8 + 4 + MT_PERF_BUILD_ID_ROOM;

	return size >= at + sizeof(tail) && !memcmp(bytes + at, tail, sizeof(tail));
}

/* A BUILD_ID record with its header; `quirk`: from a perf version that left out the pid. */
static void add_build_id(struct mt_perf_facts *facts, const uint8_t *record, size_t size,
			 bool quirk)
{
	struct mt_cursor c = mt_cursor_init(record, size);
	struct mt_perf_image *image;
	const uint8_t *header = mt_cursor_bytes(&c, 8), *id;
	const char *path;

	if (!quirk)
		mt_cursor_u32(&c);
	id = mt_cursor_bytes(&c, MT_PERF_BUILD_ID_ROOM);
	path = mt_cursor_cstring(&c);
	if (c.bad || !*path || !mt_perf_facts_room(facts, sizeof(*image) + strlen(path)))
		return;
	image = mt_array_push(&facts->images);
	image->build_id_size = MT_PERF_BUILD_ID_SIZE;
	if (mt_get_le16(header + 4) & MT_PERF_MISC_BUILD_ID_SIZE &&
	    id[MT_PERF_BUILD_ID_SIZE] < MT_PERF_BUILD_ID_SIZE)
		image->build_id_size = id[MT_PERF_BUILD_ID_SIZE];
	memcpy(image->build_id, id, image->build_id_size);
	image->path = mt_copy_string(path);
}

static void take_build_ids(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	bool quirk = lacks_pid(c->pos, mt_cursor_left(c));

	while (mt_cursor_left(c) >= 8) {
		size_t size = mt_get_le16(c->pos + 6);
		const uint8_t *record = mt_cursor_bytes(c, size);

		if (!record || size < 8)
			break;
		add_build_id(facts, record, size, quirk);
	}
}

static void take_version(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	const char *text = mt_perf_string(c);
	char tool[256];

	if (!text)
		return;
	snprintf(tool, sizeof(tool), "perf %s", text);
	mt_perf_add_info(facts, "tool", tool);
}

static void take_number(struct mt_perf_facts *facts, const char *key, uint64_t number,
			const char *unit)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 "%s", number, unit);
	mt_perf_add_info(facts, key, text);
}

static void take_cpus(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t online;

	mt_cursor_u32(c); /* number of available CPUs */
	online = mt_cursor_u32(c);
	if (!c->bad)
		take_number(facts, "cpus", online, "");
}

static void take_memory(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t kib = mt_cursor_u64(c);

	if (!c->bad)
		take_number(facts, "memory", kib, " KiB");
}

/* Adds a word of a command line, quoted as a shell needs it. */
static void add_word(FILE *to, const char *word, bool first)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%^";
	bool quote = !*word || word[strspn(word, plain)];

	fputs(&" "[first], to);
	if (quote)
		fputc('\'', to);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", to);
		else
			fputc(*word, to);
	}
	if (quote)
		fputc('\'', to);
}

static void take_command(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	MT_CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *to = mt_open_text(&text, &size);
	uint32_t count = mt_cursor_u32(c);

	for (uint32_t i = 0; i < count; i++) {
		const char *word = mt_perf_string(c);

		if (!word)
			break;
		add_word(to, word, !i);
	}
	fclose(to);
	mt_perf_add_info(facts, "command", text);
}

/* One event of EVENT_DESC: its attr again, its name as typed, its ids. */
static void take_event(struct mt_perf_facts *facts, struct mt_cursor *c, uint32_t attr_size,
		       size_t index)
{
	const uint8_t *attr = mt_cursor_bytes(c, attr_size), *ids;
	uint32_t count = mt_cursor_u32(c);
	const char *name = mt_perf_string(c);
	struct mt_perf_event *event;

	if (count > mt_cursor_left(c) / 8)
		c->bad = true;
	ids = mt_cursor_bytes(c, 8 * (size_t)count);
	if (c->bad)
		return;
	event = mt_perf_event_by_ids(facts, ids, count, index);
	if (!event || attr_size < 16 || mt_get_le64(attr + 8) != event->attr.config)
		return;
	mt_perf_set_name(facts, event, name);
}

static void take_events(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t count = mt_cursor_u32(c), attr_size = mt_cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->bad; i++)
		take_event(facts, c, attr_size, i);
}

static void take_pmus(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t count = mt_cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->bad; i++) {
		uint32_t type = mt_cursor_u32(c);
		const char *name = mt_perf_string(c);

		if (name)
			mt_perf_add_number(facts, true, type, name);
	}
}

/* Adds a text for each group: "{anon group}: 2 events from event 0 on". */
static void take_groups(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t count = mt_cursor_u32(c);

	for (uint32_t i = 0; i < count; i++) {
		const char *name = mt_perf_string(c);
		uint32_t leader = mt_cursor_u32(c), members = mt_cursor_u32(c);
		char text[256];

		if (c->bad)
			break;
		snprintf(text, sizeof(text), "%s: %u events from event %u on", name, members,
			 leader);
		mt_perf_add_info(facts, "group", text);
	}
}

static void take_times(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t first = mt_cursor_u64(c), last = mt_cursor_u64(c);

	if (c->bad || first > last || !last)
		return;
	facts->first_time = first;
	facts->last_time = last;
	facts->has_times = true;
}

static void take_clock_resolution(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t resolution = mt_cursor_u64(c);

	if (!c->bad)
		take_number(facts, "clock-resolution", resolution, " ns");
}

static void take_directory(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	(void)c;
	facts->split = true;
}

static void take_compressed(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t type, level, ratio;
	char text[96];

	mt_cursor_u32(c); /* version */
	type = mt_cursor_u32(c);
	level = mt_cursor_u32(c);
	ratio = mt_cursor_u32(c);
	if (c->bad)
		return;
	snprintf(text, sizeof(text), "%s, level %u, ratio %u", type == 1 ? "zstd" : "unknown",
		 level, ratio);
	mt_perf_add_info(facts, "compressed", text);
}

static void take_clock(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t version = mt_cursor_u32(c), clock_id = mt_cursor_u32(c);
	uint64_t wall = mt_cursor_u64(c), moment = mt_cursor_u64(c);

	if (c->bad || version != 1)
		return;
	facts->has_clock = true;
	facts->clock_id = clock_id;
	facts->clock = (struct mt_clock_record){.recording = moment, .realtime = wall};
}

/* How a feature is read: by a function, or as a text with this key. */
static const struct {
	take_feature *take;
	const char *key;
} features[] = {
	[MT_PERF_FEATURE_TRACING_DATA] = {.take = take_tracing},
	[MT_PERF_FEATURE_BUILD_ID] = {.take = take_build_ids},
	[MT_PERF_FEATURE_HOSTNAME] = {.key = "host"},
	[MT_PERF_FEATURE_OSRELEASE] = {.key = "kernel"},
	[MT_PERF_FEATURE_VERSION] = {.take = take_version},
	[MT_PERF_FEATURE_ARCH] = {.key = "arch"},
	[MT_PERF_FEATURE_NRCPUS] = {.take = take_cpus},
	[MT_PERF_FEATURE_CPUDESC] = {.key = "cpu"},
	[MT_PERF_FEATURE_TOTAL_MEM] = {.take = take_memory},
	[MT_PERF_FEATURE_CMDLINE] = {.take = take_command},
	[MT_PERF_FEATURE_EVENT_DESC] = {.take = take_events},
	[MT_PERF_FEATURE_PMU_MAPPINGS] = {.take = take_pmus},
	[MT_PERF_FEATURE_GROUP_DESC] = {.take = take_groups},
	[MT_PERF_FEATURE_SAMPLE_TIME] = {.take = take_times},
	[MT_PERF_FEATURE_CLOCKID] = {.take = take_clock_resolution},
	[MT_PERF_FEATURE_DIR_FORMAT] = {.take = take_directory},
	[MT_PERF_FEATURE_COMPRESSED] = {.take = take_compressed},
	[MT_PERF_FEATURE_CLOCK_DATA] = {.take = take_clock},
};

void mt_perf_feature(struct mt_perf_facts *facts, uint32_t feature, const uint8_t *bytes,
		     size_t size)
{
	struct mt_cursor c = mt_cursor_init(bytes, size);
	const char *key, *text;

	if (feature >= sizeof(features) / sizeof(*features))
		return;
	if (features[feature].take) {
		features[feature].take(facts, &c);
		return;
	}
	key = features[feature].key;
	text = key ? mt_perf_string(&c) : NULL;
	if (text)
		mt_perf_add_info(facts, key, text);
}

/* ---- Records of perf's own ---- */

enum {
	TYPE_NAME_SIZE = 64,
	ATTR_AT = 8,
	UPDATE_NAME = 2, /* EVENT_UPDATE's type */
};

/* Takes an ATTR record: the header, the attr, which contains its size, then ids up to the end. */
static void take_attr(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	size_t size;
	const uint8_t *attr, *ids;

	if (mt_cursor_left(c) < ATTR_AT)
		return;
	size = mt_get_le32(c->pos + 4);
	attr = mt_cursor_bytes(c, size ? size : 64);
	if (!attr)
		return;
	ids = c->pos;
	mt_perf_add_event(facts, attr, size ? size : 64, ids, mt_cursor_left(c) / 8);
}

static void take_event_type(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t id = mt_cursor_u64(c);
	const char *name = (const char *)mt_cursor_bytes(c, TYPE_NAME_SIZE);

	if (!name || !memchr(name, 0, TYPE_NAME_SIZE))
		return;
	mt_perf_add_number(facts, false, id, name);
}

static void take_update(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t type = mt_cursor_u64(c);
	const uint8_t *id = mt_cursor_bytes(c, 8);
	const char *name = mt_cursor_cstring(c);
	struct mt_perf_event *event;

	if (c->bad || type != UPDATE_NAME)
		return;
	event = mt_perf_event_by_ids(facts, id, 1, SIZE_MAX);
	if (event)
		mt_perf_set_name(facts, event, name);
}

static void take_any_feature(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t feature = mt_cursor_u64(c);

	if (c->bad || feature >= MT_PERF_FEATURE_BITS)
		return;
	mt_perf_feature(facts, (uint32_t)feature, c->pos, mt_cursor_left(c));
}

/*
 * In piped data, these records hold the facts that a file has in its header and features. Types
 * without facts (TIME_CONV, THREAD_MAP, ID_INDEX ...) are skipped.
 */
void mt_perf_user_record(struct mt_perf_facts *facts, const uint8_t *record, size_t size,
			 const uint8_t *data, size_t data_size)
{
	struct mt_cursor c = mt_cursor_init(record, size);

	mt_cursor_bytes(&c, 8);
	switch (mt_get_le32(record)) {
	case MT_PERF_HEADER_ATTR:
		take_attr(facts, &c);
		break;
	case MT_PERF_EVENT_TYPE:
		take_event_type(facts, &c);
		break;
	case MT_PERF_TRACING_DATA:
		c = mt_cursor_init(data, data_size);
		take_tracing(facts, &c);
		break;
	case MT_PERF_BUILD_ID:
		add_build_id(facts, record, size, false);
		break;
	case MT_PERF_EVENT_UPDATE:
		take_update(facts, &c);
		break;
	case MT_PERF_FEATURE:
		take_any_feature(facts, &c);
		break;
	}
}
