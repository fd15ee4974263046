/*
 * Tens of thousands of lines, of which only those of code matter, and of these the first field.
 */
#include "record/mapped_now.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/record.h"
#include "record/code_seen.h"
#include "record/existing.h"
#include "record/procfs.h"

#define FIRST_PID_NAMESPACE 0xeffffffcu /* its inode: the kernel's PROC_PID_INIT_INO */
#define RANGES_MAX 1048576
#define HIDDEN_MAX 256

struct scan {
	MT_ARRAY(struct mt_code_range) ranges;
	MT_ARRAY(int32_t) hidden;
	bool failed;
};

/* Of "start-end r-xp ...". */
static bool is_code(const char *line)
{
	const char *blank = strchr(line, ' ');

	return blank && strnlen(blank, 4) == 4 && blank[3] == 'x';
}

static void add_line(struct scan *scan, char *line)
{
	struct mt_code_range *range;
	struct mt_map_record map;

	if (!is_code(line) || !mt_existing_parse_map(line, &map))
		return;
	range = scan->ranges.count < RANGES_MAX ? mt_array_push(&scan->ranges) : NULL;
	if (range)
		*range = (struct mt_code_range){map.start, map.end};
	scan->failed |= !range;
}

/* Some cannot be read even by root: it may not trace all of them. */
static void add_hidden(struct scan *scan, pid_t pid)
{
	int32_t *hidden = scan->hidden.count < HIDDEN_MAX ? mt_array_push(&scan->hidden) : NULL;

	if (hidden)
		*hidden = pid;
	scan->failed |= !hidden;
}

/* One that ended meanwhile has none. */
static void add_process(void *context, pid_t pid)
{
	struct scan *scan = context;
	MT_CLEANUP_FREE char *maps = mt_read_textf(NULL, "/proc/%d/maps", pid);
	char *line = maps, *newline;

	if (!maps && errno != ENOENT && errno != ESRCH)
		add_hidden(scan, pid);
	for (; line && (newline = strchr(line, '\n')); line = newline + 1) {
		*newline = '\0';
		add_line(scan, line);
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const struct mt_code_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Sorts them, and makes one of those that meet. */
static void settle(struct scan *scan)
{
	struct mt_code_range *ranges = scan->ranges.items;
	size_t kept = 0;

	if (!scan->ranges.count)
		return;
	qsort(ranges, scan->ranges.count, sizeof(*ranges), compare_ranges);
	for (size_t i = 1; i < scan->ranges.count; i++) {
		if (ranges[i].start > ranges[kept].end)
			ranges[++kept] = ranges[i];
		else if (ranges[i].end > ranges[kept].end)
			ranges[kept].end = ranges[i].end;
	}
	scan->ranges.count = kept + 1;
}

/* Other users' processes may not be shown to us, and to a container none that are outside. */
static bool sees_all(void)
{
	struct stat status;

	return !geteuid() && !stat("/proc/self/ns/pid", &status) &&
	       status.st_ino == FIRST_PID_NAMESPACE;
}

void mt_mapped_now_tell(struct mt_code_seen *seen)
{
	const struct mt_code_range everywhere = {0, UINT64_MAX};
	struct scan scan = {.failed = !sees_all()};
	struct mt_code_there there;

	if (!scan.failed) {
		scan.failed = !mt_existing_each(add_process, &scan) || scan.failed;
		add_process(&scan, getpid());
	}
	settle(&scan);
	if (scan.failed)
		there = (struct mt_code_there){.ranges = &everywhere, .count = 1};
	else
		there = (struct mt_code_there){scan.ranges.items, scan.ranges.count,
					       scan.hidden.items, scan.hidden.count};
	mt_code_seen_keep(seen, &there);
	mt_array_deinit(&scan.hidden);
	mt_array_deinit(&scan.ranges);
}
