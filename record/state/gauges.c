/* Gauges from /proc/PID/status and /proc/PID/smaps_rollup: lines "Name:   123 kB". */
#include "record/state/gauges.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/records/record.h"
#include "record/open/clock.h"
#include "record/proc/procfs.h"
#include "record/rings/state.h"
#include "record/state/existing.h"

#define ROLLUP_MAX ((uint64_t)4 << 30) /* resident: a walk of more holds its process up */

struct reading {
	struct mt_state *state;
	struct mt_gauge_record gauge; /* all but value and name */
};

/* The value of a line, in bytes; false where the text has no such line. */
static bool find_value(const char *text, const char *name, uint64_t *value)
{
	size_t length = strlen(name);

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (strncmp(line, name, length) || line[length] != ':')
			continue;
		*value = strtoull(line + length + 1, NULL, 10) << 10;
		return true;
	}
	return false;
}

static void put(struct reading *reading, const char *text, const char *line, const char *name)
{
	struct mt_gauge_record *gauge = &reading->gauge;

	if (!find_value(text, line, &gauge->value))
		return;
	gauge->name = (struct mt_text){.bytes = name, .size = strlen(name)};
	(void)mt_state_put(reading->state, mt_gauge_put, gauge);
}

/* A text of that process with its stamps; the caller's. */
static char *read_stamped(struct reading *reading, const struct mt_clock *clock, const char *file)
{
	char *text;

	reading->gauge.before = mt_clock_now(clock);
	text = mt_read_textf(NULL, "/proc/%d/%s", reading->gauge.pid, file);
	reading->gauge.after = mt_clock_now(clock);
	return text;
}

static void put_rollup(struct reading *reading, const struct mt_clock *clock)
{
	static const char *const names[] = {"smaps_rollup Rss", "smaps_rollup Pss",
					    "smaps_rollup Anonymous", "smaps_rollup AnonHugePages",
					    "smaps_rollup Swap"};
	MT_CLEANUP_FREE char *text = read_stamped(reading, clock, "smaps_rollup");

	for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++)
		put(reading, text, strchr(names[i], ' ') + 1, names[i]);
}

/*
 * Whether a process has memory of its own: neither the kernel's own threads, which are most of a
 * small host's processes, have any, nor who has ended. That is cheap to see.
 */
static bool has_memory(pid_t pid)
{
	MT_CLEANUP_FREE char *statm = mt_read_textf(NULL, "/proc/%d/statm", pid);

	return statm && strncmp(statm, "0 ", 2) != 0;
}

void mt_gauges_put(struct mt_state *state, const struct mt_clock *clock, pid_t pid, bool rollup)
{
	static const char *const names[] = {"VmSize",	"VmRSS",  "RssAnon",	 "RssFile",
					    "RssShmem", "VmSwap", "HugetlbPages"};
	MT_CLEANUP_FREE char *stat = NULL, *text = NULL;
	struct reading reading = {.state = state, .gauge = {.pid = pid}};
	uint64_t resident = 0;

	if (!has_memory(pid))
		return;
	stat = mt_read_textf(NULL, "/proc/%d/stat", pid);
	if (!stat)
		return;
	reading.gauge.start_time = mt_existing_start_time(stat);
	text = read_stamped(&reading, clock, "status");
	for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++)
		put(&reading, text, names[i], names[i]);
	if (rollup && text && find_value(text, "VmRSS", &resident) && resident <= ROLLUP_MAX)
		put_rollup(&reading, clock);
}
