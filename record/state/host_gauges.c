/* Host gauges: lines of files of /proc, and EDAC counts, written when they change. */
#include "record/state/host_gauges.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/records/record.h"
#include "record/open/clock.h"
#include "record/proc/procfs.h"
#include "record/rings/state_writer.h"

/* One value found in a text. */
struct line {
	const char *name;
	size_t length; /* of the name */
	uint64_t value;
};

struct source {
	const char *path, *prefix; /* a value's name is prefix and the name in the file */
	/* Reads one line of the file. False if the line is not wanted or malformed. */
	bool (*read)(const char *text, struct line *out);
};

/* Reads "MemFree:   123 kB", or "HugePages_Total:   0" without a unit. */
static bool read_meminfo(const char *text, struct line *out)
{
	size_t length = strcspn(text, ":\n");
	char *end;

	if (text[length] != ':')
		return false;
	*out = (struct line){text, length, strtoull(text + length + 1, &end, 10)};
	if (!strncmp(end, " kB", 3))
		out->value <<= 10;
	return true;
}

/*
 * Reads "pgscan_direct 123", of the lines that begin with an entry of `wanted`.
 */
static bool read_vmstat(const char *text, struct line *out)
{
	static const char *const wanted[] = {
		"pgpg",		"pswp",		 "pgfault",   "pgmajfault", "pgscan",
		"pgsteal",	"pgfree",	 "pgalloc",   "allocstall", "oom_kill",
		"compact_",	"thp_",		 "kswapd",    "pageoutrun", "workingset_",
		"swap_ra",	"slabs_scanned", "drop_slab", "pgmigrate",  "nr_dirty",
		"nr_writeback",
	};
	size_t length = strcspn(text, " \n");

	for (size_t i = 0; text[length] == ' ' && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (strncmp(text, wanted[i], strlen(wanted[i])) != 0)
			continue;
		*out = (struct line){text, length, strtoull(text + length + 1, NULL, 10)};
		return true;
	}
	return false;
}

/* Reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=123": microseconds. */
static bool read_pressure(const char *text, struct line *out)
{
	size_t length = strcspn(text, " \n");
	const char *total = strstr(text, "total=");

	if (!total || (size_t)(total - text) > strcspn(text, "\n"))
		return false;
	*out = (struct line){text, length, strtoull(total + strlen("total="), NULL, 10)};
	return true;
}

/* Reads "0.12 0.34 ...": the load of the last minute, in hundredths. */
static bool read_loadavg(const char *text, struct line *out)
{
	*out = (struct line){"1", 1, (uint64_t)(strtod(text, NULL) * 100 + 0.5)};
	return true;
}

/*
 * Reads "/dev/sda2   partition   1048572   123   -2"; the kernel escapes blanks in the name.
 * `column`: which word after the name to read, from 0.
 */
static bool read_swaps(const char *text, int column, struct line *out)
{
	size_t length = strcspn(text, " \t\n");
	const char *at = text + length;

	if (*text != '/')
		return false;
	for (; column--; at += strcspn(at, " \t\n"))
		at += strspn(at, " \t");
	*out = (struct line){text, length, strtoull(at, NULL, 10) << 10};
	return true;
}

static bool read_swap_size(const char *text, struct line *out)
{
	return read_swaps(text, 1, out);
}

static bool read_swap_used(const char *text, struct line *out)
{
	return read_swaps(text, 2, out);
}

static const struct source sources[] = {
	{"/proc/meminfo", "meminfo", read_meminfo},
	{"/proc/vmstat", "vmstat", read_vmstat},
	{"/proc/pressure/memory", "pressure memory", read_pressure},
	{"/proc/loadavg", "loadavg", read_loadavg},
	{"/proc/swaps", "swap size", read_swap_size},
	{"/proc/swaps", "swap used", read_swap_used},
};

/* memory errors that controllers corrected, and uncorrected ones */
static const char *const edac_counts[] = {"ce_count", "ue_count"};

enum {
	SOURCES = sizeof(sources) / sizeof(sources[0]),
	COUNTS = sizeof(edac_counts) / sizeof(edac_counts[0]),
};

_Static_assert(SOURCES + COUNTS == MT_HOST_GAUGE_SOURCES, "values of each are kept");

/* True if the value is to be written: it changed, or is the first. */
static bool note_value(struct mt_host_gauge_values *last, size_t index, uint64_t value)
{
	bool first = index >= last->lines.count;
	uint64_t *slot = first ? mt_array_push(&last->lines) : &last->lines.items[index];
	bool changed = first || *slot != value;

	if (slot)
		*slot = value;
	return changed;
}

static void put_line(struct mt_state *state, struct mt_gauge_record *gauge, const char *prefix,
		     const struct line *line)
{
	char name[128];
	int size = snprintf(name, sizeof(name), "%s %.*s", prefix, (int)line->length, line->name);

	if (size < 0 || (size_t)size >= sizeof(name))
		return;
	gauge->value = line->value;
	gauge->name = (struct mt_text){.bytes = name, .size = (size_t)size};
	(void)mt_state_put(state, mt_gauge_put, gauge);
}

static void put_source(const struct source *source, struct mt_host_gauge_values *last,
		       struct mt_state *state, const struct mt_clock *clock, bool all)
{
	MT_CLEANUP_FREE char *text = NULL;
	struct mt_gauge_record gauge = {.before = mt_clock_now(clock)};
	struct line line;
	size_t index = 0;

	text = mt_read_text(source->path, NULL);
	gauge.after = mt_clock_now(clock);
	for (const char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
		if (source->read(at, &line) && (note_value(last, index++, line.value) || all))
			put_line(state, &gauge, source->prefix, &line);
	}
}

/* Puts the sum over all controllers, if the host has any. */
static void put_edac(const char *count, struct mt_host_gauge_values *last, struct mt_state *state,
		     const struct mt_clock *clock, bool all)
{
	struct mt_gauge_record gauge = {.before = mt_clock_now(clock)};
	struct line line = {count, strlen(count), 0};
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/sys/devices/system/edac/mc/mc*/%s", count);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		MT_CLEANUP_FREE char *text = mt_read_text(found.gl_pathv[i], NULL);

		line.value += text ? strtoull(text, NULL, 10) : 0;
	}
	globfree(&found);
	gauge.after = mt_clock_now(clock);
	if (note_value(last, 0, line.value) || all)
		put_line(state, &gauge, "edac", &line);
}

void mt_host_gauges_put(struct mt_host_gauges *gauges, struct mt_state *state,
			const struct mt_clock *clock, bool all)
{
	for (size_t i = 0; i < SOURCES; i++)
		put_source(&sources[i], &gauges->sources[i], state, clock, all);
	for (size_t i = 0; i < COUNTS; i++)
		put_edac(edac_counts[i], &gauges->sources[SOURCES + i], state, clock, all);
}

void mt_host_gauges_deinit(struct mt_host_gauges *gauges)
{
	for (size_t i = 0; i < MT_HOST_GAUGE_SOURCES; i++)
		mt_array_deinit(&gauges->sources[i].lines);
}
