/*
 * The features of a perf.data file: the same bodies in a file's feature sections and in the FEATURE
 * records of a pipe. Features that reports use are kept; others, and unknown ones, are skipped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/perfdata/perfdata.h"

typedef bool take_feature(struct mt_perf_facts *facts, struct mt_cursor *c);

static bool take_tracing(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	return mt_perf_tracing(facts, c->pos, mt_cursor_left(c));
}

/*
 * A BUILD_ID record of a perf of 2010, without the pid, is recognized by the kernel's name: the
 * first bytes of the name are where the pid should be.
 */
static bool lacks_pid(const uint8_t *bytes, size_t size)
{
	static const char tail[] = "nel.kallsyms]";
	const size_t at = 8 + 4 + MT_PERF_BUILD_ID_ROOM;

	return size >= at + sizeof(tail) && !memcmp(bytes + at, tail, sizeof(tail));
}

bool mt_perf_build_id(struct mt_perf_facts *facts, const uint8_t *record, size_t size, bool quirk)
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
		return true;
	image = mt_array_push(&facts->images);
	if (!image)
		return false;
	image->build_id_size = MT_PERF_BUILD_ID_SIZE;
	if (mt_get_le16(header + 4) & MT_PERF_MISC_BUILD_ID_SIZE &&
	    id[MT_PERF_BUILD_ID_SIZE] < MT_PERF_BUILD_ID_SIZE)
		image->build_id_size = id[MT_PERF_BUILD_ID_SIZE];
	memcpy(image->build_id, id, image->build_id_size);
	image->path = strdup(path);
	return image->path;
}

static bool take_build_ids(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	bool quirk = lacks_pid(c->pos, mt_cursor_left(c));

	while (mt_cursor_left(c) >= 8) {
		size_t size = mt_get_le16(c->pos + 6);
		const uint8_t *record = mt_cursor_bytes(c, size);

		if (!record || size < 8)
			break;
		if (!mt_perf_build_id(facts, record, size, quirk))
			return false;
	}
	return true;
}

/* A feature that is one string, under that key. */
static bool take_text(struct mt_perf_facts *facts, struct mt_cursor *c, const char *key)
{
	const char *text = mt_perf_string(c);

	return !text || mt_perf_add_info(facts, key, text);
}

static bool take_host(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	return take_text(facts, c, "host");
}

static bool take_kernel(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	return take_text(facts, c, "kernel");
}

static bool take_version(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	const char *text = mt_perf_string(c);
	char tool[256];

	if (!text)
		return true;
	snprintf(tool, sizeof(tool), "perf %s", text);
	return mt_perf_add_info(facts, "tool", tool);
}

static bool take_arch(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	return take_text(facts, c, "arch");
}

static bool take_cpu(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	return take_text(facts, c, "cpu");
}

static bool take_number(struct mt_perf_facts *facts, const char *key, uint64_t number,
			const char *unit)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 "%s", number, unit);
	return mt_perf_add_info(facts, key, text);
}

static bool take_cpus(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t online;

	mt_cursor_u32(c); /* events that fit in the remaining bytes */
	online = mt_cursor_u32(c);
	return c->bad || take_number(facts, "cpus", online, "");
}

static bool take_memory(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t kib = mt_cursor_u64(c);

	return c->bad || take_number(facts, "memory", kib, " KiB");
}

/* The words of a command line, quoted as a shell needs them. */
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

static bool take_command(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	MT_CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	uint32_t count = mt_cursor_u32(c);

	if (!to)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const char *word = mt_perf_string(c);

		if (!word)
			break;
		add_word(to, word, !i);
	}
	if (fclose(to))
		return false;
	return mt_perf_add_info(facts, "command", text);
}

/* One event of EVENT_DESC: its attr again, its name as typed, its ids. */
static bool take_event(struct mt_perf_facts *facts, struct mt_cursor *c, uint32_t attr_size,
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
		return true;
	event = mt_perf_event_by_ids(facts, ids, count, index);
	if (!event || attr_size < 16 || mt_get_le64(attr + 8) != event->attr.config)
		return true;
	return mt_perf_set_name(facts, event, name);
}

static bool take_events(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t count = mt_cursor_u32(c), attr_size = mt_cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->bad; i++) {
		if (!take_event(facts, c, attr_size, i))
			return false;
	}
	return true;
}

static bool take_pmus(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t count = mt_cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->bad; i++) {
		uint32_t type = mt_cursor_u32(c);
		const char *name = mt_perf_string(c);

		if (name && !mt_perf_add_number(facts, true, type, name))
			return false;
	}
	return true;
}

/* "{anon group}: 2 events from number 0 on". */
static bool take_groups(struct mt_perf_facts *facts, struct mt_cursor *c)
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
		if (!mt_perf_add_info(facts, "group", text))
			return false;
	}
	return true;
}

static bool take_times(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t first = mt_cursor_u64(c), last = mt_cursor_u64(c);

	if (c->bad || first > last || !last)
		return true;
	facts->first_time = first;
	facts->last_time = last;
	facts->has_times = true;
	return true;
}

static bool take_clock_resolution(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint64_t resolution = mt_cursor_u64(c);

	return c->bad || take_number(facts, "clock-resolution", resolution, " ns");
}

static bool take_directory(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	(void)c;
	facts->split = true;
	return true;
}

static bool take_compressed(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t type, level, ratio;
	char text[96];

	mt_cursor_u32(c); /* version */
	type = mt_cursor_u32(c);
	level = mt_cursor_u32(c);
	ratio = mt_cursor_u32(c);
	if (c->bad)
		return true;
	snprintf(text, sizeof(text), "%s, level %u, ratio %u", type == 1 ? "zstd" : "unknown",
		 level, ratio);
	return mt_perf_add_info(facts, "compressed", text);
}

static bool take_clock(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	uint32_t version = mt_cursor_u32(c), clock_id = mt_cursor_u32(c);
	uint64_t wall = mt_cursor_u64(c), moment = mt_cursor_u64(c);

	if (c->bad || version != 1)
		return true;
	facts->has_clock = true;
	facts->clock_id = clock_id;
	facts->clock = (struct mt_clock_record){.recording = moment, .realtime = wall};
	return true;
}

static take_feature *const features[] = {
	[MT_PERF_FEATURE_TRACING_DATA] = take_tracing,
	[MT_PERF_FEATURE_BUILD_ID] = take_build_ids,
	[MT_PERF_FEATURE_HOSTNAME] = take_host,
	[MT_PERF_FEATURE_OSRELEASE] = take_kernel,
	[MT_PERF_FEATURE_VERSION] = take_version,
	[MT_PERF_FEATURE_ARCH] = take_arch,
	[MT_PERF_FEATURE_NRCPUS] = take_cpus,
	[MT_PERF_FEATURE_CPUDESC] = take_cpu,
	[MT_PERF_FEATURE_TOTAL_MEM] = take_memory,
	[MT_PERF_FEATURE_CMDLINE] = take_command,
	[MT_PERF_FEATURE_EVENT_DESC] = take_events,
	[MT_PERF_FEATURE_PMU_MAPPINGS] = take_pmus,
	[MT_PERF_FEATURE_GROUP_DESC] = take_groups,
	[MT_PERF_FEATURE_SAMPLE_TIME] = take_times,
	[MT_PERF_FEATURE_CLOCKID] = take_clock_resolution,
	[MT_PERF_FEATURE_DIR_FORMAT] = take_directory,
	[MT_PERF_FEATURE_COMPRESSED] = take_compressed,
	[MT_PERF_FEATURE_CLOCK_DATA] = take_clock,
};

bool mt_perf_feature(struct mt_perf_facts *facts, uint32_t feature, const uint8_t *bytes,
		     size_t size)
{
	struct mt_cursor c = mt_cursor_init(bytes, size);

	if (feature >= sizeof(features) / sizeof(*features) || !features[feature])
		return true;
	return features[feature](facts, &c);
}
