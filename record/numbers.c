/* Parsing of numbers: strict, bounded, and saying what was wrong. */
#include "record/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/err.h"

#define RING_MAX ((uint64_t)1 << 31)

/*
 * The number at the start of text and where it ends; NULL where there is none or it does not fit.
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
	int *slot;

	if (mt_list_has(list, number))
		return true;
	slot = mt_array_push(list);
	if (slot)
		*slot = number;
	return slot;
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

/* How many bytes the letter behind a size stands for: nothing means pages. 0: not a unit. */
static uint64_t size_unit(const char *suffix)
{
	if (!*suffix)
		return (uint64_t)sysconf(_SC_PAGESIZE);
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

struct mt_error *mt_parse_ring_size(const char *text, size_t *out)
{
	uint64_t number, bytes, page = (uint64_t)sysconf(_SC_PAGESIZE), rounded = page;
	const char *end = scan_u64(text, &number);
	uint64_t unit = end ? size_unit(end) : 0;

	if (!unit || !number || __builtin_mul_overflow(number, unit, &bytes) || bytes > RING_MAX)
		return mt_error_create(
			MT_ERR_USAGE, "-m: '%s' is not a size like 16M or 4096 (pages), at most 2G",
			text);
	while (rounded < bytes)
		rounded *= 2;
	*out = rounded;
	return NULL;
}
