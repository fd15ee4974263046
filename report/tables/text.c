/*
 * Formatting of numbers and of names from outside. Depends on nothing else in report/.
 */
#include "report/tables/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "formats/base/cleanup.h"
#include "formats/base/memory.h"
#include "formats/base/strings.h"

struct mt_snippet mt_text_count(double value)
{
	struct mt_snippet out;
	char digits[40];
	int length = snprintf(digits, sizeof(digits), "%.0f", value);
	char *to = out.text;

	for (int i = 0; i < length && i < 32; i++) {
		int left = length - i;

		if (i && left % 3 == 0 && digits[i - 1] != '-')
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

struct mt_snippet mt_text_duration(double seconds)
{
	struct mt_snippet out;
	unsigned long whole = seconds > 0 && seconds < 1e15 ? (unsigned long)(seconds + 0.5) : 0;

	if (seconds < 0.001)
		snprintf(out.text, sizeof(out.text), "%.0f us", seconds > 0 ? seconds * 1e6 : 0.0);
	else if (seconds < 1)
		snprintf(out.text, sizeof(out.text), "%.0f ms", seconds * 1e3);
	else if (seconds < 100)
		snprintf(out.text, sizeof(out.text), "%.2f s", seconds);
	else if (seconds < 3600)
		snprintf(out.text, sizeof(out.text), "%lu min %02lu s", whole / 60, whole % 60);
	else
		snprintf(out.text, sizeof(out.text), "%lu h %02lu min", whole / 3600,
			 whole / 60 % 60);
	return out;
}

struct mt_snippet mt_text_bytes(double bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
	struct mt_snippet out;
	size_t unit = 0;

	while (bytes >= 999.95 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1000;
		unit++;
	}
	snprintf(out.text, sizeof(out.text), unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
	return out;
}

struct mt_snippet mt_text_percent(double part, double whole)
{
	struct mt_snippet out;
	double percent = whole > 0 ? 100 * part / whole : 0;

	if (whole <= 0)
		snprintf(out.text, sizeof(out.text), "-");
	else if (part <= 0)
		snprintf(out.text, sizeof(out.text), "0 %%");
	else if (percent < 0.05)
		snprintf(out.text, sizeof(out.text), "<0.1 %%");
	else if (percent >= 99.95 && part < whole)
		snprintf(out.text, sizeof(out.text), ">99.9 %%");
	else
		snprintf(out.text, sizeof(out.text), percent >= 99.95 ? "%.0f %%" : "%.1f %%",
			 percent);
	return out;
}

struct mt_snippet mt_text_date(uint64_t ns)
{
	struct mt_snippet out = {""};
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(out.text, sizeof(out.text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	return out;
}

size_t mt_text_decode(const char *string, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *text = (const unsigned char *)string;
	size_t size = *text < 0x80    ? 1
		      : *text >= 0xf5 ? 0
		      : *text >= 0xf0 ? 4
		      : *text >= 0xe0 ? 3
		      : *text >= 0xc2 ? 2
				      : 0;
	uint32_t bits = size > 1 ? *text & (0x7f >> size) : *text;

	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		bits = bits << 6 | (text[i] & 0x3f);
	}
	if (bits < least[size] || bits > 0x10ffff || (bits >= 0xd800 && bits <= 0xdfff))
		return 0;
	*code = bits;
	return size;
}

/* True for control characters (C0, C1), line ends, and characters that change text direction. */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

size_t mt_text_character(const char *text)
{
	uint32_t code;
	size_t size = mt_text_decode(text, &code);

	return size && !is_control(code) ? size : 0;
}

const char *mt_text_take(const char **text, size_t *size)
{
	const char *from = *text;

	*size = mt_text_character(from);
	if (*size) {
		*text += *size;
		return from;
	}
	*size = 1;
	*text += 1;
	return "?";
}

/* Columns of a character from mt_text_take(), by the C library's table if it knows it. */
static size_t character_columns(const char *character)
{
	uint32_t code = '?';
	int width;

	if (*character >= ' ' && *character <= '~')
		return 1;
	mt_text_decode(character, &code);
	width = wcwidth((wchar_t)code);
	return width < 0 ? 1 : (size_t)width;
}

size_t mt_text_columns(const char *text)
{
	size_t n = 0;

	for (size_t size; *text;)
		n += character_columns(mt_text_take(&text, &size));
	return n;
}

size_t mt_text_fit(const char *text, size_t width, char *out, size_t size)
{
	bool cut = mt_text_columns(text) > width;
	size_t limit = cut && width >= 2 ? width - 2 : width, used = 0, at = 0;

	while (*text) {
		size_t bytes;
		const char *character = mt_text_take(&text, &bytes);
		size_t columns = character_columns(character);

		if (used + columns > limit || at + bytes + 3 > size)
			break;
		memmove(out + at, character, bytes);
		at += bytes;
		used += columns;
	}
	for (int i = 0; cut && width >= 2 && i < 2 && at + 1 < size; i++, used++)
		out[at++] = '.';
	out[at] = '\0';
	return used;
}

void mt_text_print_clean(const char *text, FILE *to)
{
	while (*text) {
		size_t bytes;
		const char *character = mt_text_take(&text, &bytes);

		fwrite(character, 1, bytes, to);
	}
}

static bool is_clean(const char *text)
{
	size_t size = 1;

	while (*text && size) {
		size = mt_text_character(text);
		text += size;
	}
	return size;
}

void mt_text_print_quoted(const char *text, FILE *to)
{
	bool clean = is_clean(text);

	fputs(clean ? "'" : "$'", to);
	while (*text) {
		size_t bytes = mt_text_character(text);

		if (*text == '\'' || (*text == '\\' && !clean))
			fprintf(to, clean ? "'\\%c'" : "\\%c", *text);
		else if (bytes)
			fwrite(text, 1, bytes, to);
		else
			fprintf(to, "\\x%02x", (unsigned char)*text);
		text += bytes ? bytes : 1;
	}
	fputc('\'', to);
}

/* Bytes of the longest part of clean text that has at most `width` columns and ends at a space. */
static size_t wrapped_part(const char *text, size_t width)
{
	const char *at = text, *space = NULL, *before;

	for (size_t used = 0, size; *at; at = before + size) {
		before = at;
		used += character_columns(mt_text_take(&at, &size));
		if (*before == ' ')
			space = before;
		if (used > width)
			return (size_t)((space && space > text ? space : before) - text);
	}
	return (size_t)(at - text);
}

void mt_text_print_wrapped(const char *first, const char *rest, const char *text, size_t width,
			   FILE *to)
{
	char clean[1024];

	width -= strlen(rest);
	mt_text_fit(text, sizeof(clean), clean, sizeof(clean));
	text = clean;
	for (const char *mark = first; *text; mark = rest) {
		size_t cut = wrapped_part(text, width);

		fprintf(to, "%s%.*s\n", mark, (int)cut, text);
		text += cut + (text[cut] == ' ');
	}
}

uint32_t mt_text_intern(struct mt_strings *strings, const char *text)
{
	MT_CLEANUP_FREE char *clean = mt_alloc(strlen(text) + 1, 1);
	size_t used = 0, size;

	while (*text) {
		const char *character = mt_text_take(&text, &size);

		memcpy(clean + used, character, size);
		used += size;
	}
	return mt_strings_intern(strings, clean, used);
}
