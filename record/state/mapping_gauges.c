/* Gauges of mappings. */
#include "record/state/mapping_gauges.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/records/record.h"
#include "record/open/clock.h"
#include "record/rings/state_writer.h"

enum size {
	SIZE_RESIDENT,
	SIZE_DIRTY,
	SIZE_SWAPPED,
	SIZE_HUGE,
	SIZES,
};

static const char *const names[SIZES] = {"Rss", "Dirty", "Swap", "AnonHugePages"};

/* Lines of a mapping that are summed up. */
static const struct {
	const char *line;
	enum size size;
} lines[] = {
	{"Rss:", SIZE_RESIDENT}, {"Shared_Dirty:", SIZE_DIRTY}, {"Private_Dirty:", SIZE_DIRTY},
	{"Swap:", SIZE_SWAPPED}, {"AnonHugePages:", SIZE_HUGE},
};

struct mapping {
	char range[40]; /* "START-END" as the kernel prints it; empty at first */
	uint64_t bytes[SIZES];
};

static void put(struct mt_state *state, struct mt_gauge_record *gauge,
		const struct mapping *mapping)
{
	char name[64];

	for (int i = 0; *mapping->range && i < SIZES; i++) {
		if (i != SIZE_RESIDENT && !mapping->bytes[i])
			continue;
		gauge->value = mapping->bytes[i];
		gauge->name = (struct mt_text){
			.bytes = name,
			.size = (size_t)snprintf(name, sizeof(name), "smaps %s %s", mapping->range,
						 names[i]),
		};
		(void)mt_state_put(state, mt_gauge_put, gauge);
	}
}

/* True for the first line of a mapping, which has the form of /proc/PID/maps. */
static bool begins(const char *line, struct mapping *out)
{
	size_t low = strspn(line, "0123456789abcdef"), high;

	if (!low || line[low] != '-')
		return false;
	high = strspn(line + low + 1, "0123456789abcdef");
	if (!high || line[low + 1 + high] != ' ' || low + high + 2 > sizeof(out->range))
		return false;
	*out = (struct mapping){0};
	memcpy(out->range, line, low + 1 + high);
	return true;
}

static void add_line(const char *line, struct mapping *mapping)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t length = strlen(lines[i].line);

		if (!strncmp(line, lines[i].line, length))
			mapping->bytes[lines[i].size] += strtoull(line + length, NULL, 10) << 10;
	}
}

void mt_mapping_gauges_put(struct mt_state *state, const struct mt_clock *clock, pid_t pid,
			   uint64_t start_time, uint64_t end)
{
	struct mt_gauge_record gauge = {
		.pid = pid, .start_time = start_time, .before = mt_clock_now(clock)};
	struct mapping mapping = {0}, next;
	MT_CLEANUP_FCLOSE FILE *smaps = NULL;
	MT_CLEANUP_FREE char *line = NULL;
	char path[64];
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	smaps = fopen(path, "re");
	while (smaps && getline(&line, &room, smaps) > 0) {
		if (!begins(line, &next)) {
			add_line(line, &mapping);
			continue;
		}
		gauge.after = mt_clock_now(clock);
		put(state, &gauge, &mapping);
		mapping = next;
		if (gauge.after >= end || state->given_up)
			return;
	}
	gauge.after = mt_clock_now(clock);
	put(state, &gauge, &mapping);
}
