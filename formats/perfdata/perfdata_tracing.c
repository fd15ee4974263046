/*
 * TRACING_DATA: a trace.dat header with each tracepoint's format as text. Keeps the formats of
 * events in the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perfdata/perfdata.h"

#define MAGIC_SIZE 10
#define TYPE_TRACEPOINT 2 /* PERF_TYPE_TRACEPOINT */

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

static bool take_format(struct mt_perf_facts *facts, const char *system, const char *text,
			size_t size)
{
	size_t id_length, name_length;
	const char *id_text = find_line(text, size, "ID: ", &id_length),
		   *name = find_line(text, size, "name: ", &name_length);
	struct mt_perf_format *format;
	uint64_t id = 0;

	if (!id_text || !name)
		return true;
	for (size_t i = 0; i < id_length && id_text[i] >= '0' && id_text[i] <= '9'; i++)
		id = id * 10 + (uint64_t)(id_text[i] - '0');
	if (!is_wanted(facts, id) || !mt_perf_facts_room(facts, sizeof(*format) + size))
		return true;
	format = mt_array_push(&facts->formats);
	if (!format)
		return false;
	format->id = id;
	format->size = size;
	format->text = mt_perf_copy(text, size);
	if (asprintf(&format->name, "%s:%.*s", system, (int)name_length, name) < 0)
		format->name = NULL;
	return format->text && format->name;
}

/* A u64 size and as many bytes; NULL if fewer are left. */
static const uint8_t *take_sized(struct mt_cursor *c, size_t *size)
{
	*size = mt_cursor_u64(c);
	return mt_cursor_bytes(c, *size);
}

static bool take_system(struct mt_perf_facts *facts, struct mt_cursor *c)
{
	const char *system = mt_cursor_cstring(c);
	uint32_t count = mt_cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->bad; i++) {
		size_t size;
		const uint8_t *text = take_sized(c, &size);

		if (text && !take_format(facts, system, (const char *)text, size))
			return false;
	}
	return true;
}

static void skip_page_formats(struct mt_cursor *c)
{
	size_t size;
	uint32_t count;

	mt_cursor_cstring(c); /* "header_page" */
	take_sized(c, &size);
	mt_cursor_cstring(c); /* "header_event" */
	take_sized(c, &size);
	count = mt_cursor_u32(c); /* ftrace's own events */
	for (uint32_t i = 0; i < count && !c->bad; i++)
		take_sized(c, &size);
}

bool mt_perf_tracing(struct mt_perf_facts *facts, const uint8_t *bytes, size_t size)
{
	struct mt_cursor c = mt_cursor_init(bytes, size);
	const uint8_t *magic = mt_cursor_bytes(&c, MAGIC_SIZE);
	uint32_t count;
	uint8_t big_endian;

	if (!magic || memcmp(magic, MT_PERF_TRACING_MAGIC, MAGIC_SIZE) != 0)
		return true;
	mt_cursor_cstring(&c); /* version */
	big_endian = mt_cursor_u8(&c);
	mt_cursor_u8(&c);  /* bytes of a long */
	mt_cursor_u32(&c); /* page size */
	if (big_endian)
		return true;
	skip_page_formats(&c);
	count = mt_cursor_u32(&c);
	for (uint32_t i = 0; i < count && !c.bad; i++) {
		if (!take_system(facts, &c))
			return false;
	}
	return true;
}
