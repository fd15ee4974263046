/* Parses "field:TYPE NAME; offset:N; size:N; signed:N;" lines and the print fmt line after them. */
#include "report/session/trace_format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"

enum {
	NAME_MOST = 64,
	SPEC_MOST = 24,
	ARGUMENT_MOST = 2048,
};

struct field {
	char name[NAME_MOST];
	size_t offset, size;
	bool is_signed, text, located; /* located: the value is an offset and a length */
	bool common;
};

struct mt_trace_format {
	MT_ARRAY(struct field) fields;
	const char *print; /* text after "print fmt: \"", or NULL */
};

struct sink {
	char *out;
	size_t size, used;
};

/* ---- The fields ---- */

static bool number_after(const char *line, const char *word, size_t *out)
{
	const char *at = strstr(line, word);

	if (!at)
		return false;
	*out = (size_t)strtoul(at + strlen(word), NULL, 10);
	return true;
}

/* Reads a declaration such as "char comm[16]", "__data_loc char[] name", "unsigned long addr". */
static void read_declaration(const char *text, size_t length, struct field *field)
{
	const char *end = text + length, *start, *bracket = memchr(text, '[', length);
	size_t name;

	field->located = length > 10 && !strncmp(text, "__data_loc", 10);
	field->text = memmem(text, length, "char", 4) && bracket;
	if (bracket && !field->located)
		end = bracket;
	for (start = end; start > text && start[-1] != ' ' && start[-1] != '*';)
		start--;
	name = (size_t)(end - start) < NAME_MOST ? (size_t)(end - start) : NAME_MOST - 1;
	memcpy(field->name, start, name);
	field->name[name] = '\0';
	field->common = !strncmp(field->name, "common_", 7);
}

static void read_field(const char *line, struct mt_trace_format *format)
{
	const char *at = strstr(line, "field:"), *end = at ? strchr(at, ';') : NULL;
	struct field field = {0};
	size_t is_signed;

	if (!end || !number_after(end, "offset:", &field.offset) ||
	    !number_after(end, "size:", &field.size))
		return;
	field.is_signed = number_after(end, "signed:", &is_signed) && is_signed;
	read_declaration(at + 6, (size_t)(end - at - 6), &field);
	mt_array_append(&format->fields, field);
}

struct mt_trace_format *mt_trace_format_create(const char *text)
{
	struct mt_trace_format *format = mt_alloc(1, sizeof(*format));
	const char *print = strstr(text, "print fmt: \"");
	char line[512];

	format->print = print ? print + 12 : NULL;
	while (*text) {
		size_t length = strcspn(text, "\n");
		size_t kept = length < sizeof(line) ? length : sizeof(line) - 1;

		memcpy(line, text, kept);
		line[kept] = '\0';
		read_field(line, format);
		text += length + (text[length] == '\n');
	}
	return format;
}

void mt_trace_format_destroy(struct mt_trace_format *format)
{
	if (!format)
		return;
	mt_array_deinit(&format->fields);
	free(format);
}

/* ---- Values ---- */

static void put(struct sink *sink, const char *text, size_t length)
{
	for (size_t i = 0; i < length && sink->used + 1 < sink->size; i++) {
		unsigned char c = (unsigned char)text[i];

		sink->out[sink->used++] = (char)(c < ' ' ? ' ' : c);
	}
	sink->out[sink->used] = '\0';
}

static const struct field *find_field(const struct mt_trace_format *format, const char *name,
				      size_t length)
{
	for (size_t i = 0; i < format->fields.count; i++) {
		const struct field *field = &format->fields.items[i];

		if (strlen(field->name) == length && !strncmp(field->name, name, length))
			return field;
	}
	return NULL;
}

struct raw {
	const uint8_t *bytes;
	size_t size;
};

/* Reads a number of up to 8 bytes; false if the field is not in the sample. */
static bool read_number(const struct field *field, const struct raw *raw, uint64_t *out)
{
	unsigned int unused = 64 - 8 * (unsigned int)field->size;
	uint64_t value = 0;

	if (!field->size || field->size > 8 || field->offset > raw->size ||
	    raw->size - field->offset < field->size)
		return false;
	for (size_t i = 0; i < field->size; i++)
		value |= (uint64_t)raw->bytes[field->offset + i] << (8 * i);
	*out = field->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
	return true;
}

static bool read_text(const struct field *field, const struct raw *raw, const char **out,
		      size_t *length)
{
	size_t offset = field->offset, size = field->size;
	uint64_t place;

	if (field->located) {
		if (!read_number(field, raw, &place))
			return false;
		offset = place & 0xffff;
		size = place >> 16 & 0xffff;
	}
	if (offset > raw->size || raw->size - offset < size)
		return false;
	*out = (const char *)raw->bytes + offset;
	*length = strnlen(*out, size);
	return true;
}

static void print_plain(const struct field *field, const struct raw *raw, struct sink *sink)
{
	char number[32];
	const char *text;
	size_t length;
	uint64_t value;

	if (field->text && read_text(field, raw, &text, &length)) {
		put(sink, text, length);
	} else if (!field->text && read_number(field, raw, &value)) {
		snprintf(number, sizeof(number), field->is_signed ? "%" PRId64 : "0x%" PRIx64,
			 value);
		put(sink, number, strlen(number));
	} else {
		put(sink, "?", 1);
	}
}

static void print_fields(const struct mt_trace_format *format, const struct raw *raw,
			 struct sink *sink)
{
	for (size_t i = 0; i < format->fields.count; i++) {
		const struct field *field = &format->fields.items[i];

		if (field->common)
			continue;
		if (sink->used)
			put(sink, " ", 1);
		put(sink, field->name, strlen(field->name));
		put(sink, "=", 1);
		print_plain(field, raw, sink);
	}
}

/* ---- The print format ---- */

/* The field of an argument, through casts and parentheses; NULL for other expressions. */
static const struct field *plain_field(const struct mt_trace_format *format, const char *text,
				       size_t length)
{
	const char *at = memmem(text, length, "REC->", 5), *end = text + length;
	size_t name;

	if (!at)
		return NULL;
	for (const char *before = text; before < at; before++) {
		if (!strchr("() abcdefghijklmnopqrstuvwxyz_0123456789", *before))
			return NULL;
	}
	at += 5;
	name = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
	if (at + name > end)
		return NULL;
	for (const char *after = at + name; after < end; after++) {
		if (*after != ')' && *after != ' ')
			return NULL;
	}
	return find_field(format, at, name);
}

/* The end of the argument that begins here: the comma after it, or the end of the text. */
static const char *argument_end(const char *at)
{
	int depth = 0;
	bool quoted = false;

	for (; *at && *at != '\n'; at++) {
		if (*at == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (strchr("({", *at))
			depth++;
		else if (strchr(")}", *at))
			depth--;
		else if (*at == ',' && depth <= 0)
			break;
	}
	return at;
}

/*
 * Prints an argument like "__print_symbolic(REC->member, { 0, "A" }, ...)". False for other
 * arguments, and if the value is not in the table.
 */
static bool print_word(const struct mt_trace_format *format, const char *text, size_t length,
		       const struct raw *raw, struct sink *sink)
{
	static const char start[] = "__print_symbolic(";
	const char *at = text + sizeof(start) - 1, *end = text + length, *comma;
	const struct field *field;
	uint64_t value;

	if (length < sizeof(start) || strncmp(text, start, sizeof(start) - 1) != 0)
		return false;
	comma = argument_end(at);
	field = comma < end ? plain_field(format, at, (size_t)(comma - at)) : NULL;
	if (!field || !read_number(field, raw, &value))
		return false;
	for (at = comma; (at = memchr(at, '{', (size_t)(end - at)));) {
		char *after;
		uint64_t key = (uint64_t)strtoll(at + 1, &after, 0);
		const char *quote = memchr(at, '"', (size_t)(end - at));
		const char *close =
			quote ? memchr(quote + 1, '"', (size_t)(end - quote - 1)) : NULL;

		if (!close || after == at + 1)
			return false;
		if (key == value) {
			put(sink, quote + 1, (size_t)(close - quote - 1));
			return true;
		}
		at = close;
	}
	return false;
}

/* Prints one argument by its conversion ("%08lx"); false if the argument is not supported. */
static bool print_argument(const struct mt_trace_format *format, const char *spec, const char *text,
			   size_t length, const struct raw *raw, struct sink *sink)
{
	static const char get_str[] = "__get_str(";
	const struct field *field = plain_field(format, text, length);
	size_t flags = strspn(spec + 1, "0123456789-+ #.");
	char conversion = spec[strlen(spec) - 1], wide[SPEC_MOST + 4], number[64];
	uint64_t value;

	if (conversion == 's' && print_word(format, text, length, raw, sink))
		return true;
	if (conversion == 's' && length > sizeof(get_str) &&
	    !strncmp(text, get_str, sizeof(get_str) - 1))
		field = find_field(format, text + sizeof(get_str) - 1, length - sizeof(get_str));
	if (!field || flags > SPEC_MOST)
		return false;
	if (conversion == 's') {
		if (field->text)
			print_plain(field, raw, sink);
		return field->text;
	}
	if (!strchr("diuxX", conversion) || !read_number(field, raw, &value))
		return false;
	if (strchr("di", conversion) && !strchr(spec, 'l') && field->size < 8)
		value = (uint64_t)(int64_t)(int32_t)value;
	snprintf(wide, sizeof(wide), "%%%.*sll%c", (int)flags, spec + 1, conversion);
	/* the format consists of the digits and flags above */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(number, sizeof(number), wide, (unsigned long long)value);
#pragma GCC diagnostic pop
	put(sink, number, strlen(number));
	return true;
}

/* Prints by the print format; false if it has more than fields, casts and tables of words. */
static bool print_formatted(const struct mt_trace_format *format, const struct raw *raw,
			    struct sink *sink)
{
	const char *at = format->print, *closing = at ? strchr(at, '"') : NULL, *argument;

	if (!closing || closing[1] != ',')
		return false;
	for (argument = closing + 2; at < closing; at++) {
		char spec[SPEC_MOST];
		const char *end;
		size_t length;

		if (*at != '%' || at[1] == '%') {
			at += *at == '%';
			put(sink, at, 1);
			continue;
		}
		length = 1 + strspn(at + 1, "0123456789-+ #.lhz");
		if (at + length >= closing || length + 2 > sizeof(spec) || !*argument)
			return false;
		memcpy(spec, at, length + 1);
		spec[length + 1] = '\0';
		at += length;
		argument += strspn(argument, " ");
		end = argument_end(argument);
		if ((size_t)(end - argument) > ARGUMENT_MOST ||
		    !print_argument(format, spec, argument, (size_t)(end - argument), raw, sink))
			return false;
		argument = end + (*end == ',');
	}
	return true;
}

void mt_trace_format_print(const struct mt_trace_format *format, const uint8_t *bytes,
			   size_t raw_size, char *out, size_t size)
{
	struct sink sink = {out, size, 0};
	struct raw raw = {bytes, raw_size};

	*out = '\0';
	if (print_formatted(format, &raw, &sink))
		return;
	sink.used = 0;
	*out = '\0';
	print_fields(format, &raw, &sink);
}
