/* Gauges of processes. */
#include "record/state/gauges.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/records/record.h"
#include "record/open/clock.h"
#include "record/proc/procfs.h"
#include "record/rings/state_writer.h"
#include "record/state/cgroup_gauges.h"
#include "record/state/existing.h"
#include "record/state/host_gauges.h"

#define GAUGES_DETAILED 50
#define OPEN_MAX 1024 /* statm files kept open; further ones are opened at each reading */
#define ROLLUP_MAX ((uint64_t)4 << 30) /* resident bytes; walking more would block the process */
#define STAT_MAJOR_FAULTS 12	       /* field number in /proc/PID/stat */

/* The lines of /proc/PID/status that are written, and two values from other files. */
enum value {
	VM_SIZE,
	VM_RSS,
	VM_SWAP = 5,
	FROM_STATUS = 8,
	MAJOR_FAULTS = FROM_STATUS,
	VALUES,
};

static const char *const value_names[VALUES] = {
	"VmSize", "VmRSS",	  "RssAnon", "RssFile",	    "RssShmem",
	"VmSwap", "HugetlbPages", "Threads", "MajorFaults",
};

struct process {
	pid_t pid;
	int statm;		 /* -1: opened at each reading */
	bool is_target;		 /* added since mt_gauges_begin() */
	uint64_t start_time;	 /* 0: not read yet */
	uint64_t size, resident; /* bytes, from statm */
	uint64_t detailed;	 /* resident when status was last read */
	bool written[VALUES];
	uint64_t values[VALUES]; /* last written values */
};

struct mt_gauges {
	const struct mt_clock *clock;
	struct mt_state *state;
	bool all;
	struct mt_host_gauges host;
	struct mt_cgroup_gauges cgroups;
	MT_ARRAY(struct process) processes;
	struct mt_map64 by_pid; /* pid -> index */
	size_t open;		/* number of open statm files */
	struct process recorder;
};

/* State while the values of one process in one text are written. */
struct reading {
	struct mt_gauges *gauges;
	struct process *process;
	const char *prefix; /* prefix of names */
	struct mt_gauge_record gauge;
};

struct mt_gauges *mt_gauges_create(const struct mt_clock *clock)
{
	struct mt_gauges *gauges = calloc(1, sizeof(*gauges));

	if (!gauges)
		return NULL;
	gauges->clock = clock;
	gauges->recorder.pid = getpid();
	return gauges;
}

static void close_statm(struct mt_gauges *gauges, struct process *process)
{
	gauges->open -= process->statm >= 0;
	mt_close_p(&process->statm);
	process->statm = -1;
}

void mt_gauges_destroy(struct mt_gauges *gauges)
{
	if (!gauges)
		return;
	for (size_t i = 0; i < gauges->processes.count; i++)
		close_statm(gauges, &gauges->processes.items[i]);
	mt_array_deinit(&gauges->processes);
	mt_map64_deinit(&gauges->by_pid);
	mt_cgroup_gauges_deinit(&gauges->cgroups);
	mt_host_gauges_deinit(&gauges->host);
	free(gauges);
}

/* ---- The targets ---- */

static int open_statm(pid_t pid)
{
	return mt_openf(O_RDONLY, "/proc/%d/statm", (int)pid);
}

void mt_gauges_begin(struct mt_gauges *gauges, struct mt_state *state, bool all)
{
	gauges->state = state;
	gauges->all = all;
	for (size_t i = 0; i < gauges->processes.count; i++)
		gauges->processes.items[i].is_target = false;
	mt_host_gauges_put(&gauges->host, state, gauges->clock, all);
}

void mt_gauges_add(struct mt_gauges *gauges, pid_t pid)
{
	struct process *process;
	uint64_t index;

	if (mt_map64_get(&gauges->by_pid, (uint64_t)pid, &index)) {
		gauges->processes.items[index].is_target = true;
		return;
	}
	process = mt_array_push(&gauges->processes);
	if (!process)
		return;
	if (!mt_map64_put(&gauges->by_pid, (uint64_t)pid, gauges->processes.count - 1)) {
		gauges->processes.count--;
		return;
	}
	*process = (struct process){
		.pid = pid,
		.statm = gauges->open < OPEN_MAX ? open_statm(pid) : -1,
		.is_target = true,
	};
	gauges->open += process->statm >= 0;
}

static void forget(struct mt_gauges *gauges, size_t index)
{
	struct process *process = &gauges->processes.items[index];
	struct process *last = &gauges->processes.items[gauges->processes.count - 1];

	close_statm(gauges, process);
	(void)mt_map64_remove(&gauges->by_pid, (uint64_t)process->pid);
	if (process != last) {
		*process = *last;
		(void)mt_map64_put(&gauges->by_pid, (uint64_t)process->pid, index);
	}
	gauges->processes.count--;
}

/* ---- Writing values ---- */

static void put_named(struct reading *reading, const char *name, uint64_t value)
{
	char full[64];
	int size = snprintf(full, sizeof(full), "%s%s", reading->prefix, name);

	reading->gauge.value = value;
	reading->gauge.name = (struct mt_text){.bytes = full, .size = (size_t)size};
	(void)mt_state_put(reading->gauges->state, mt_gauge_put, &reading->gauge);
}

/* Writes a value if it changed since it was last written, or was never written. */
static void put_value(struct reading *reading, enum value which, uint64_t value)
{
	struct process *process = reading->process;

	if (process->written[which] && process->values[which] == value && !reading->gauges->all)
		return;
	process->written[which] = true;
	process->values[which] = value;
	put_named(reading, value_names[which], value);
}

/*
 * Begins to write values of a process. Those of the recorder are written among the host's, because
 * the recorder is not a reported process.
 */
static struct reading begin_reading(struct mt_gauges *gauges, struct process *process)
{
	bool own = process == &gauges->recorder;

	return (struct reading){
		.gauges = gauges,
		.process = process,
		.prefix = own ? "recorder " : "",
		.gauge = {.pid = own ? 0 : process->pid,
			  .start_time = process->start_time,
			  .before = mt_clock_now(gauges->clock)},
	};
}

static char *read_file(struct reading *reading, const char *file)
{
	char *text;

	reading->gauge.before = mt_clock_now(reading->gauges->clock);
	text = mt_read_textf(NULL, "/proc/%d/%s", (int)reading->process->pid, file);
	reading->gauge.after = mt_clock_now(reading->gauges->clock);
	return text;
}

/* ---- Reading one process ---- */

/* Reads statm. False if the process has ended. */
static bool read_statm(struct process *process)
{
	MT_CLEANUP_CLOSE int once = process->statm < 0 ? open_statm(process->pid) : -1;
	char text[128];
	ssize_t size = pread(process->statm < 0 ? once : process->statm, text, sizeof(text) - 1, 0);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char *end;

	if (size <= 0)
		return false;
	text[size] = '\0';
	process->size = strtoull(text, &end, 10) * page;
	process->resident = strtoull(end, NULL, 10) * page;
	return true;
}

/* Reads the start time once, because pids are reused. */
static bool identify(struct process *process)
{
	MT_CLEANUP_FREE char *stat = NULL;

	if (process->start_time)
		return true;
	stat = mt_read_textf(NULL, "/proc/%d/stat", (int)process->pid);
	process->start_time = stat ? mt_existing_start_time(stat) : 0;
	return process->start_time;
}

static void put_status(struct mt_gauges *gauges, struct process *process)
{
	struct reading reading = begin_reading(gauges, process);
	MT_CLEANUP_FREE char *text = read_file(&reading, "status");
	uint64_t value;

	for (int i = 0; text && i < FROM_STATUS; i++) {
		if (mt_find_number(text, value_names[i], &value))
			put_value(&reading, (enum value)i, value);
	}
}

static void put_major_faults(struct mt_gauges *gauges, struct process *process)
{
	struct reading reading = begin_reading(gauges, process);
	MT_CLEANUP_FREE char *text = read_file(&reading, "stat");

	if (text)
		put_value(&reading, MAJOR_FAULTS, mt_existing_stat_field(text, STAT_MAJOR_FAULTS));
}

static void put_rollup(struct mt_gauges *gauges, struct process *process)
{
	static const char *const names[] = {"smaps_rollup Rss",		  "smaps_rollup Pss",
					    "smaps_rollup Pss_Anon",	  "smaps_rollup Anonymous",
					    "smaps_rollup AnonHugePages", "smaps_rollup Swap"};
	struct reading reading = begin_reading(gauges, process);
	MT_CLEANUP_FREE char *text = read_file(&reading, "smaps_rollup");
	uint64_t value;

	for (size_t i = 0; text && i < sizeof(names) / sizeof(names[0]); i++) {
		if (mt_find_number(text, strchr(names[i], ' ') + 1, &value))
			put_named(&reading, names[i], value);
	}
}

static void put_detail(struct mt_gauges *gauges, struct process *process)
{
	size_t cgroup = mt_cgroup_gauges_find(&gauges->cgroups, process->pid); /* may change */

	put_status(gauges, process);
	put_major_faults(gauges, process);
	if (cgroup != MT_CGROUP_NONE)
		gauges->cgroups.items[cgroup].due = true;
	process->detailed = process->resident;
}

static void put_sizes(struct mt_gauges *gauges, struct process *process)
{
	struct reading reading = begin_reading(gauges, process);

	reading.gauge.after = reading.gauge.before;
	put_value(&reading, VM_SIZE, process->size);
	put_value(&reading, VM_RSS, process->resident);
}

/* ---- The mappings of a process ---- */

enum size {
	SIZE_RESIDENT,
	SIZE_DIRTY,
	SIZE_SWAPPED,
	SIZE_HUGE,
	SIZES,
};

static const char *const size_names[SIZES] = {"Rss", "Dirty", "Swap", "AnonHugePages"};

/* Lines of a mapping, and the value to which each line is added. */
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

static void put_mapping(struct mt_state *state, struct mt_gauge_record *gauge,
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
						 size_names[i]),
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

/*
 * Writes the mappings of one process in /proc/PID/smaps, in order of address, until all are written
 * or the clock is past `end`, because the kernel walks the pages of each mapping.
 */
static void put_mappings(struct mt_state *state, const struct mt_clock *clock, pid_t pid,
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
		put_mapping(state, &gauge, &mapping);
		mapping = next;
		if (gauge.after >= end || state->given_up)
			return;
	}
	gauge.after = mt_clock_now(clock);
	put_mapping(state, &gauge, &mapping);
}

/* ---- All of them ---- */

/*
 * Reads the sizes of all targets, and removes processes that have ended or are not targets. A
 * process without memory is a kernel thread or is exiting.
 */
static void read_sizes(struct mt_gauges *gauges)
{
	for (size_t i = gauges->processes.count; i--;) {
		struct process *process = &gauges->processes.items[i];

		if (!process->is_target || !read_statm(process) ||
		    (process->size && !identify(process)))
			forget(gauges, i);
	}
}

static uint64_t change_of(const struct process *process)
{
	return process->resident > process->detailed ? process->resident - process->detailed
						     : process->detailed - process->resident;
}

static int by_change(const void *a, const void *b)
{
	uint64_t x = change_of(*(struct process *const *)a),
		 y = change_of(*(struct process *const *)b);

	return (x < y) - (x > y);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = (*(struct process *const *)a)->resident,
		 y = (*(struct process *const *)b)->resident;

	return (x < y) - (x > y);
}

typedef MT_ARRAY(struct process *) process_list;

/* Reads the largest processes first, as far as time allows. */
static void put_walked(struct mt_gauges *gauges, const process_list *list,
		       const struct mt_gauge_walks *walks)
{
	uint64_t end = mt_clock_now(gauges->clock) + walks->ns;

	qsort(list->items, list->count, sizeof(*list->items), by_size);
	for (size_t i = 0; i < list->count && mt_clock_now(gauges->clock) < end; i++) {
		const struct process *process = list->items[i];

		if (process->resident > ROLLUP_MAX)
			continue;
		put_rollup(gauges, list->items[i]);
		if (walks->mappings)
			put_mappings(gauges->state, gauges->clock, process->pid,
				     process->start_time, end);
	}
}

void mt_gauges_finish(struct mt_gauges *gauges, const struct mt_gauge_walks *walks)
{
	process_list list = {0};

	if (gauges->all)
		put_status(gauges, &gauges->recorder);
	if (walks->ns)
		put_rollup(gauges, &gauges->recorder);
	read_sizes(gauges);
	if (!mt_array_reserve(&list, gauges->processes.count + 1))
		return;
	for (size_t i = 0; i < gauges->processes.count; i++) {
		if (gauges->processes.items[i].size)
			list.items[list.count++] = &gauges->processes.items[i];
	}
	qsort(list.items, list.count, sizeof(*list.items), by_change);
	for (size_t i = 0; i < list.count && !gauges->state->given_up; i++) {
		if (gauges->all || (i < GAUGES_DETAILED && change_of(list.items[i])))
			put_detail(gauges, list.items[i]);
		else
			put_sizes(gauges, list.items[i]);
	}
	if (walks->cgroups)
		mt_cgroup_gauges_add_limited(&gauges->cgroups);
	mt_cgroup_gauges_put(&gauges->cgroups, gauges->state, gauges->clock, gauges->all);
	if (walks->ns && list.count)
		put_walked(gauges, &list, walks);
	mt_array_deinit(&list);
}

uint64_t mt_gauges_resident(const struct mt_gauges *gauges)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < gauges->processes.count; i++)
		sum += gauges->processes.items[i].resident;
	return sum;
}
