/* Parses numbers strictly and within bounds, with errors that describe the mistake. */
#include "record/proc/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/err.h"

#define RING_MAX ((uint64_t)1 << 31)
#define DURATION_MAX 1e18 /* ns: about 31 years */

/*
 * Parses the number at the start of text. Returns the end of the number; NULL if there is no
 * number, or it does not fit in 64 bits.
 */
static const char *scan_u64(const char *text, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno ? NULL : end;
}

bool mt_parse_u64(const char *text, uint64_t *out)
{
	uint64_t value;
	const char *end = scan_u64(text, &value);

	if (!end || *end)
		return false;
	*out = value;
	return true;
}

bool mt_list_has(const struct mt_number_list *list, int number)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i] == number)
			return true;
	}
	return false;
}

bool mt_list_add(struct mt_number_list *list, int number)
{
	return mt_list_has(list, number) || mt_array_append(list, number);
}

struct mt_error *mt_parse_list(const char *what, const char *text, int max,
			       struct mt_number_list *list)
{
	const char *at = text;
	uint64_t from, to;

	do {
		at = scan_u64(at, &from);
		to = from;
		if (at && *at == '-')
			at = scan_u64(at + 1, &to);
		if (!at || (*at && *at != ',') || from > to || to > (uint64_t)max ||
		    to - from > MT_CPU_MAX)
			return mt_error_create(MT_ERR_USAGE,
					       "%s: '%s' is not a list of numbers like 1,2,5-7",
					       what, text);
		for (uint64_t n = from; n <= to; n++) {
			if (!mt_list_add(list, (int)n))
				return mt_error_nomem();
		}
	} while (*at++ == ',');
	return NULL;
}

/* Returns the number of bytes in the unit after a size; `alone` without a unit; 0 if unknown. */
static uint64_t size_unit(const char *suffix, uint64_t alone)
{
	if (!*suffix)
		return alone;
	if (suffix[1] && strcasecmp(suffix + 1, "b") && strcasecmp(suffix + 1, "ib"))
		return 0;
	switch (toupper((unsigned char)*suffix)) {
	case 'K':
		return 1 << 10;
	case 'M':
		return 1 << 20;
	case 'G':
		return 1 << 30;
	case 'B':
		return suffix[1] ? 0 : 1;
	default:
		return 0;
	}
}

/* Parses a number and its unit into bytes. False if the text is malformed, zero or too large. */
static bool scan_size(const char *text, uint64_t alone, uint64_t *out)
{
	uint64_t number;
	const char *end = scan_u64(text, &number);
	uint64_t unit = end ? size_unit(end, alone) : 0;

	return unit && number && !__builtin_mul_overflow(number, unit, out);
}

struct mt_error *mt_parse_ring_size(const char *text, size_t *out)
{
	uint64_t bytes, page = (uint64_t)sysconf(_SC_PAGESIZE), rounded = page;

	if (!scan_size(text, page, &bytes) || bytes > RING_MAX)
		return mt_error_create(
			MT_ERR_USAGE, "-m: '%s' is not a size like 16M or 4096 (pages), at most 2G",
			text);
	while (rounded < bytes)
		rounded *= 2;
	*out = rounded;
	return NULL;
}

/* Formats bytes with the largest unit that divides them, as in "512K" or "64M". */
static const char *size_text(uint64_t bytes, char out[32])
{
	static const char units[] = {'B', 'K', 'M', 'G'};
	size_t unit = 0;

	for (; unit < 3 && bytes && !(bytes % 1024); unit++)
		bytes /= 1024;
	snprintf(out, 32, "%llu%c", (unsigned long long)bytes, units[unit]);
	return out;
}

struct mt_error *mt_parse_size(const char *what, const char *text, uint64_t alone, uint64_t low,
			       uint64_t high, uint64_t *out)
{
	char from[32], to[32];
	uint64_t bytes;

	if (!scan_size(text, alone, &bytes) || bytes < low || bytes > high)
		return mt_error_create(MT_ERR_USAGE, "%s: '%s' is not a size from %s to %s", what,
				       text, size_text(low, from), size_text(high, to));
	*out = bytes;
	return NULL;
}

/* Returns the number of nanoseconds in the unit after a time; 0 if the unit is unknown. */
static uint64_t time_unit(const char *suffix)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"", 1000000000}, {"s", 1000000000},	     {"ms", 1000000},
		{"us", 1000},	  {"m", 60 * 1000000000ull}, {"h", 3600 * 1000000000ull},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(suffix, units[i].name))
			return units[i].ns;
	}
	return 0;
}

struct mt_error *mt_parse_duration(const char *what, const char *text, uint64_t *ns)
{
	char *end = NULL;
	double number = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;
	uint64_t unit = end ? time_unit(end) : 0;

	if (!unit || number * (double)unit < 1 || number * (double)unit > DURATION_MAX)
		return mt_error_create(MT_ERR_USAGE,
				       "%s: '%s' is not a time like 10s, 500ms, 2m or 1h", what,
				       text);
	*ns = (uint64_t)(number * (double)unit);
	return NULL;
}
