/*
 * Reads /proc. Processes of other users are hostile input too: comms and command lines are
 * arbitrary bytes, and lines are parsed with bounds.
 */
#include "record/state/existing.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/records/record.h"
#include "record/open/clock.h"
#include "record/proc/numbers.h"
#include "record/proc/procfs.h"
#include "record/rings/state_writer.h"

#define CMDLINE_MAX 4096
#define FAMILY_MAX 65536
#define FLAG_KERNEL_THREAD 0x00200000u /* PF_KTHREAD, in field 9 of stat */

static struct mt_text text_of(const char *string)
{
	return (struct mt_text){.bytes = string ? string : "", .size = string ? strlen(string) : 0};
}

/* The value of the line "Name:\tvalue" in /proc/PID/status; empty if missing. */
static struct mt_text status_value(const char *status, const char *name)
{
	const char *line = mt_find_line(status, name);

	return line ? (struct mt_text){.bytes = line, .size = strcspn(line, "\n")} : text_of(NULL);
}

/* The comm, field 2, may hold blanks and brackets; the other fields follow its last ')'. */
uint64_t mt_existing_stat_field(const char *stat, int wanted)
{
	const char *at = strrchr(stat, ')');

	for (int field = 2; at && field < wanted; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t mt_existing_start_time(const char *stat)
{
	return mt_existing_stat_field(stat, 22);
}

bool mt_existing_is_kernels(const char *stat)
{
	return mt_existing_stat_field(stat, 9) & FLAG_KERNEL_THREAD;
}

/*
 * The name of a thread from its stat, in place. Older kernels escape some characters in stat; then
 * the name is taken from the comm file, and *comm owns the text of that file.
 */
static struct mt_text name_of(char *stat, pid_t pid, pid_t tid, char **comm)
{
	char *from = strchr(stat, '('), *to = strrchr(stat, ')');
	size_t size = 0;

	if (!from || !to || to < from)
		return text_of(NULL);
	if (!memchr(from, '\\', (size_t)(to - from)))
		return (struct mt_text){.bytes = from + 1, .size = (size_t)(to - from - 1)};
	*comm = mt_read_textf(&size, "/proc/%d/task/%d/comm", pid, tid);
	/* drops the last newline; other newlines belong to the name */
	return (struct mt_text){.bytes = *comm ? *comm : "", .size = size ? size - 1 : 0};
}

/* Arguments of put_thread(). */
struct putting {
	struct mt_state *state;
	const struct mt_task_record *leader;
};

/* Puts a thread other than the leader, which was put before. All threads have the leader's user. */
static void put_thread(void *context, pid_t tid)
{
	const struct putting *putting = context;
	const struct mt_task_record *leader = putting->leader;
	MT_CLEANUP_FREE char *stat = mt_read_textf(NULL, "/proc/%d/task/%d/stat", leader->pid, tid);
	MT_CLEANUP_FREE char *comm = NULL;
	struct mt_task_record task = {
		.pid = leader->pid, .tid = tid, .ppid = leader->ppid, .uid = leader->uid};

	if (!stat || tid == leader->pid)
		return;
	task.start_time = mt_existing_start_time(stat);
	task.comm = name_of(stat, leader->pid, tid, &comm);
	(void)mt_state_put(putting->state, mt_task_put, &task);
}

/* The numbers of NSpid, separated by blanks, in place. */
static struct mt_text nspid_of(char *status)
{
	struct mt_text nspid = status ? status_value(status, "NSpid") : text_of(NULL);

	for (size_t i = 0; i < nspid.size; i++) {
		char *c = status + (nspid.bytes - status) + i;

		*c = *c == '\t' ? ' ' : *c;
	}
	return nspid;
}

/* Properties that kernel threads do not have. */
struct belongings {
	char *cgroup, *cmdline;
	char exe[PATH_MAX];
};

static void read_belongings(struct belongings *details, struct mt_task_record *task, char *status,
			    bool arguments)
{
	char path[64];
	size_t size = 0;
	ssize_t n;

	details->cgroup = mt_read_textf(NULL, "/proc/%d/cgroup", task->pid);
	details->cmdline = mt_read_textf(&size, "/proc/%d/cmdline", task->pid);
	snprintf(path, sizeof(path), "/proc/%d/exe", task->pid);
	n = readlink(path, details->exe, sizeof(details->exe));
	task->exe = (struct mt_text){.bytes = details->exe, .size = n > 0 ? (size_t)n : 0};
	if (!arguments && details->cmdline)
		size = strnlen(details->cmdline, size);
	task->cmdline = (struct mt_text){.bytes = details->cmdline,
					 .size = size < CMDLINE_MAX ? size : CMDLINE_MAX};
	task->cgroup = text_of(details->cgroup);
	task->nspid = nspid_of(status);
}

/*
 * Puts the leader's TASK, with the properties of the process; *leader: the fields that its threads
 * share. True if the process may have threads and memory.
 */
static bool put_leader(struct mt_state *state, pid_t pid, bool arguments,
		       struct mt_task_record *leader)
{
	MT_CLEANUP_FREE char *stat = mt_read_textf(NULL, "/proc/%d/stat", pid);
	bool kernels = stat && mt_existing_is_kernels(stat);
	MT_CLEANUP_FREE char *status =
		stat && !kernels ? mt_read_textf(NULL, "/proc/%d/status", pid) : NULL;
	MT_CLEANUP_FREE char *comm = NULL;
	struct belongings details = {0};
	struct mt_task_record task = {.pid = pid, .tid = pid};

	if (!stat || (!status && !kernels))
		return false;
	task.ppid = (int32_t)mt_existing_stat_field(stat, 4);
	task.start_time = mt_existing_start_time(stat);
	task.comm = name_of(stat, pid, pid, &comm);
	if (!kernels) { /* kernel threads run as root */
		task.uid = (uint32_t)strtoul(status_value(status, "Uid").bytes, NULL, 10);
		read_belongings(&details, &task, status, arguments);
	}
	(void)mt_state_put(state, mt_task_put, &task);
	free(details.cgroup);
	free(details.cmdline);
	*leader = (struct mt_task_record){.pid = pid, .ppid = task.ppid, .uid = task.uid};
	return !kernels;
}

bool mt_existing_each_thread(pid_t pid, void (*each)(void *context, pid_t tid), void *context)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return mt_each_number(path, each, context);
}

typedef bool (*map_put_fn)(struct mt_block *block, const struct mt_map_record *map);

/* Puts the lines of one read(); returns the start of an incomplete last line. */
static char *put_lines(struct mt_state *state, char *line, const struct mt_map_record *stamped,
		       map_put_fn put)
{
	char *newline;

	for (; (newline = strchr(line, '\n')); line = newline + 1) {
		struct mt_map_record map = *stamped;

		*newline = '\0';
		if (mt_map_line_get(line, &map))
			(void)mt_state_put(state, put, &map);
	}
	return line;
}

/*
 * Puts the maps as the kernel returns them. The lines of one read() are consistent; they get the
 * times before and after it.
 */
static void put_maps(struct mt_state *state, const struct mt_clock *clock, pid_t pid,
		     map_put_fn put)
{
	char buffer[32768];
	MT_CLEANUP_CLOSE int fd = mt_openf(O_RDONLY, "/proc/%d/maps", pid);
	size_t kept = 0;
	ssize_t n;

	while (fd >= 0) {
		struct mt_map_record map = {.pid = pid, .before = mt_clock_now(clock)};
		char *line;

		n = read(fd, buffer + kept, sizeof(buffer) - kept - 1);
		if (n <= 0)
			break;
		buffer[kept + (size_t)n] = '\0';
		map.after = mt_clock_now(clock);
		line = put_lines(state, buffer, &map, put);
		kept = strlen(line);
		memmove(buffer, line, kept);
		if (kept >= sizeof(buffer) - 1)
			break; /* no line of maps is that long: a path has at most 4096 bytes,
				  escaped 16384 */
	}
}

bool mt_existing_process(struct mt_state *state, const struct mt_clock *clock, pid_t pid,
			 bool arguments)
{
	struct mt_task_record leader;
	struct putting putting = {state, &leader};

	if (!put_leader(state, pid, arguments, &leader))
		return false;
	(void)mt_existing_each_thread(pid, put_thread, &putting);
	put_maps(state, clock, pid, mt_map_put);
	return true;
}

void mt_existing_name(struct mt_state *state, pid_t pid, bool arguments)
{
	struct mt_task_record leader;

	(void)put_leader(state, pid, arguments, &leader);
}

/* A list of processes that grows. Only the first `given` processes can also appear as a child. */
struct family {
	struct mt_number_list *pids;
	size_t given;
	pid_t self;
	bool failed;
};

static void add_child(struct family *family, int child)
{
	const struct mt_number_list given = {.items = family->pids->items, .count = family->given};

	if (child == family->self || family->pids->count >= FAMILY_MAX ||
	    mt_list_has(&given, child))
		return;
	family->failed |= !mt_array_append(family->pids, child);
}

static void add_children(void *context, pid_t tid)
{
	MT_CLEANUP_FREE char *text =
		mt_read_textf(NULL, "/proc/%d/task/%d/children", (int)tid, (int)tid);
	char *at, *end;
	long child;

	for (at = text; at && (child = strtol(at, &end, 10)) > 0; at = end)
		add_child(context, (int)child);
}

bool mt_existing_add_children(struct mt_number_list *pids, pid_t self)
{
	struct family family = {pids, pids->count, self, false};

	for (size_t i = 0; i < pids->count; i++)
		(void)mt_existing_each_thread(pids->items[i], add_children, &family);
	return !family.failed;
}

void mt_existing_reread(struct mt_state *state, const struct mt_clock *clock, pid_t pid)
{
	put_maps(state, clock, pid, mt_reread_put);
}

struct passing {
	void (*each)(void *context, pid_t pid);
	void *context;
	pid_t self;
};

static void pass_other(void *context, pid_t pid)
{
	const struct passing *passing = context;

	if (pid != passing->self)
		passing->each(passing->context, pid);
}

bool mt_existing_each(void (*each)(void *context, pid_t pid), void *context)
{
	struct passing passing = {each, context, getpid()};

	return mt_each_number("/proc", pass_other, &passing);
}

pid_t mt_existing_pid_of(pid_t tid)
{
	MT_CLEANUP_FREE char *status = mt_read_textf(NULL, "/proc/%d/status", tid);
	uint64_t pid;

	return mt_find_number(status, "Tgid", &pid) && pid > 0 ? (pid_t)pid : tid;
}
