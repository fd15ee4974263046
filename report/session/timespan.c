/* Parses and applies --time, and finds the moment of --at. */
#include "report/session/timespan.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"

static struct mt_error *refuse(const char *option, const char *text, const char *why)
{
	struct mt_error *err = mt_error_create(MT_ERR_USAGE, "%s %s: %s", option, text, why);

	return mt_error_hint(
		err, "seconds since the start as 1.5,4 or 1.5, or ,4; or parts as 10%%-20%%");
}

/* Reads a number of seconds, or of the unit after it. False without a number. Advances *at. */
static bool read_seconds(const char **at, double *out)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"s", 1}};
	char *end;
	double value = strtod(*at, &end);

	if (end == *at || !isfinite(value) || value < 0)
		return false;
	*at = end;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strncmp(end, units[i].unit, strlen(units[i].unit))) {
			value *= units[i].seconds;
			*at = end + strlen(units[i].unit);
			break;
		}
	}
	*out = value;
	return true;
}

struct mt_error *mt_seconds_parse(const char *option, const char *text, double *out)
{
	const char *at = text;
	double value;

	if (!read_seconds(&at, &value) || *at || value < 1e-9 || value > 1e9)
		return mt_error_create(MT_ERR_USAGE, "%s %s: not a length of time like 1s or 500ms",
				       option, text);
	*out = value;
	return NULL;
}

static bool read_percent(const char **at, double *out)
{
	char *end;
	double value = strtod(*at, &end);

	if (end == *at || !isdigit((unsigned char)**at) || *end != '%' ||
	    !(value >= 0 && value <= 100))
		return false;
	*at = end + 1;
	*out = value / 100;
	return true;
}

static struct mt_error *parse_percent(const char *option, const char *text,
				      struct mt_timespan *span)
{
	const char *at = text;
	double slice;
	char *end;
	long number;

	span->percent = true;
	span->to = 1;
	if (*at != '-' && !read_percent(&at, &span->from))
		return refuse(option, text, "not a percentage between 0% and 100%");
	if (*at == '/') {
		number = strtol(at + 1, &end, 10);
		slice = span->from;
		if (*end || number < 1 || !(slice > 0) || (double)(number - 1) * slice >= 1)
			return refuse(option, text, "no such slice");
		span->from = (double)(number - 1) * slice;
		span->to = (double)number * slice < 1 ? (double)number * slice : 1;
		return NULL;
	}
	if (*at++ != '-')
		return refuse(option, text, "not a span");
	if (*at && !read_percent(&at, &span->to))
		return refuse(option, text, "not a percentage between 0% and 100%");
	return *at ? refuse(option, text, "not a span") : NULL;
}

static struct mt_error *parse_seconds(const char *option, const char *text,
				      struct mt_timespan *span)
{
	const char *at = text;

	span->to = INFINITY;
	if (*at != ',' && !read_seconds(&at, &span->from))
		return refuse(option, text, "not a time");
	if (*at++ != ',')
		return refuse(option, text, "two times and a comma between them are needed");
	if (*at && !read_seconds(&at, &span->to))
		return refuse(option, text, "not a time");
	return *at ? refuse(option, text, "not a time") : NULL;
}

struct mt_error *mt_timespan_parse(const char *option, const char *text, struct mt_timespan *out)
{
	struct mt_timespan span = {.given = true};
	struct mt_error *err = strchr(text, '%') ? parse_percent(option, text, &span)
						 : parse_seconds(option, text, &span);

	if (err)
		return err;
	if (span.from >= span.to)
		return refuse(option, text, "the end is not after the start");
	*out = span;
	return NULL;
}

static uint64_t moment(uint64_t start, double ns)
{
	return ns >= (double)(UINT64_MAX - start) ? UINT64_MAX : start + (uint64_t)(ns + 0.5);
}

void mt_timespan_apply(const struct mt_timespan *span, uint64_t start, uint64_t end, uint64_t *from,
		       uint64_t *to)
{
	double scale = span->percent ? (end > start ? (double)(end - start) : 0) : 1e9;

	*from = 0;
	*to = UINT64_MAX;
	if (!span->given)
		return;
	if (span->from > 0)
		*from = moment(start, span->from * scale);
	if (!(span->percent && span->to >= 1))
		*to = moment(start, span->to * scale);
}

struct mt_at mt_at_end_of(const struct mt_timespan *time)
{
	if (!time->given || !isfinite(time->to))
		return (struct mt_at){.when = MT_AT_END};
	return (struct mt_at){
		.when = MT_AT_TIME,
		.seconds = time->percent ? -1 : time->to,
		.part = time->percent ? time->to : 0,
	};
}

uint64_t mt_at_clock(const struct mt_at *at, uint64_t start, uint64_t end)
{
	if (at->when != MT_AT_TIME)
		return UINT64_MAX;
	if (at->clock)
		return at->clock;
	if (at->seconds >= 0)
		return start + (uint64_t)(at->seconds * 1e9);
	return start + (uint64_t)(at->part * (double)(end - start));
}
