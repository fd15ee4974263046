/* Lists processes with a sample, each with its file or with the time of the next file search. */
#include "record/carry/perf_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/foreign_file.h"
#include "formats/base/map64.h"
#include "record/files/file_worker.h"
#include "record/open/clock.h"
#include "record/proc/procfs.h"
#include "record/state/existing.h"

#define PROCESSES_MAX 65536
#define OPEN_MAX 128
#define FIRST_NS UINT64_C(500000000)
#define LAST_NS UINT64_C(30000000000)
#define FIRST_PIECE_NS UINT64_C(1000000000)
#define ANEW_MAX 1 /* a file rewritten more often is carried only at the end */
#define LAST_PIECE_NS UINT64_C(60000000000)

struct process {
	int32_t pid;
	bool gone;
	uint64_t due, pause;		 /* next search for the file */
	uint64_t piece_due, piece_pause; /* next check whether the file has grown */
	struct mt_perf_map_file file;	 /* fd -1: not found yet */
};

struct mt_perf_maps {
	struct mt_file_worker *worker; /* opens and reads the files; or NULL */
	MT_ARRAY(struct process) processes;
	struct mt_map64 index; /* pid -> index in processes */
	unsigned int open;
	time_t since;	   /* files of processes that have ended must not be older */
	size_t asked;	   /* next process to check for a changed file */
	size_t taken_last; /* next process for mt_perf_maps_take_last() */
};

struct mt_perf_maps *mt_perf_maps_create(struct mt_file_worker *worker)
{
	struct mt_perf_maps *maps = calloc(1, sizeof(*maps));

	if (maps) {
		maps->worker = worker;
		maps->since = time(NULL);
	}
	return maps;
}

void mt_perf_maps_destroy(struct mt_perf_maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->processes.count; i++)
		mt_file_worker_close(maps->worker, maps->processes.items[i].file.fd);
	mt_array_deinit(&maps->processes);
	mt_map64_deinit(&maps->index);
	free(maps);
}

/* Returns the last or the first number of a line like "NSpid:\t1234\t1"; -1 without such a line. */
static long status_number(const char *status, const char *name, bool last)
{
	const char *at = strstr(status, name);
	long number = -1;
	char *end;

	for (at = at ? at + strlen(name) : NULL; at && *at != '\n'; at = end) {
		long next = strtol(at, &end, 10);

		if (end == at)
			break;
		number = next;
		if (!last)
			break;
	}
	return number;
}

/* A perf map in the process's namespaces. */
struct own_map {
	int32_t pid;
	long uid, gid; /* ids with which the process accesses files */
	char path[sizeof(((struct mt_perf_map_file *)NULL)->path)];
};

/*
 * Gives this thread the process's file access rights until give_rights_back(), because a process
 * may bind-mount a file that only root can read over the name of its perf map. Drops all
 * supplementary groups of the thread for good, since root needs none. Uses the system call, because
 * setgroups() of the C library changes all threads. Returns false if a step fails.
 */
static bool take_rights(const struct own_map *map)
{
	if (geteuid())
		return true; /* this thread has no special rights */
	if (map->uid < 0 || map->gid < 0 || syscall(SYS_setgroups, 0, NULL))
		return false;
	setfsgid((gid_t)map->gid);
	setfsuid((uid_t)map->uid);
	return setfsuid((uid_t)-1) == map->uid && setfsgid((gid_t)-1) == map->gid;
}

static void give_rights_back(void)
{
	setfsuid(geteuid());
	setfsgid(getegid());
}

/* Opens the file as the process sees it. Runs on the worker thread. */
static int open_own_map(void *argument)
{
	const struct own_map *map = argument;
	MT_CLEANUP_CLOSE int root = -1;
	char path[32];
	struct stat status;
	int fd = -1, error;

	snprintf(path, sizeof(path), "/proc/%d/root", map->pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -1;
	errno = EPERM;
	if (take_rights(map))
		fd = mt_foreign_open(root, map->path, MT_LINKS_NOT_LAST, &status);
	error = errno;
	give_rights_back();
	errno = error;
	return fd;
}

static int open_left_map(void *argument)
{
	struct stat status;

	return mt_foreign_open(AT_FDCWD, argument, MT_LINKS_NOT_LAST, &status);
}

/* Keeps fd if the file is regular and has a trusted owner; otherwise closes fd. */
static bool keep(const struct mt_perf_maps *maps, struct process *process, int fd, long uid)
{
	struct stat *status = &process->file.status;

	if (fd < 0)
		return false;
	if (mt_file_worker_stat(maps->worker, fd, status) || !S_ISREG(status->st_mode) ||
	    (status->st_uid && (long)status->st_uid != uid)) {
		mt_file_worker_close(maps->worker, fd);
		return false;
	}
	process->file.fd = fd;
	process->file.carried = process->file.anew = 0;
	process->file.in_pieces = process->file.replaces = false;
	process->piece_due = 0;
	process->piece_pause = FIRST_PIECE_NS;
	return true;
}

/* Returns the start time of the process on the clock of file times; 0 if unknown. */
static time_t began(int32_t pid)
{
	MT_CLEANUP_FREE char *stat = mt_read_textf(NULL, "/proc/%d/stat", pid);
	const uint64_t ticks = stat ? mt_existing_start_time(stat) : 0;
	struct timespec up;

	if (!ticks || clock_gettime(CLOCK_BOOTTIME, &up))
		return 0;
	return time(NULL) - up.tv_sec + (time_t)(ticks / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void drop(const struct mt_perf_maps *maps, struct process *process)
{
	mt_file_worker_close(maps->worker, process->file.fd);
	process->file.fd = -1;
}

/*
 * Does the same as keep(), but drops a file that an earlier process of the same pid left. Allows a
 * difference of two seconds between the clocks.
 */
static bool keep_own(const struct mt_perf_maps *maps, struct process *process, int fd, long uid)
{
	if (!keep(maps, process, fd, uid))
		return false;
	if (process->file.status.st_mtime + 2 >= began(process->pid))
		return true;
	drop(maps, process);
	return false;
}

/*
 * Returns a key for the process's mount namespace, which the worker does not use again after a call
 * in that namespace did not return.
 */
static uint64_t namespace_of(int32_t pid)
{
	char path[32];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return stat(path, &status) ? 0 : UINT64_C(1) << 61 | status.st_ino;
}

/* Returns true if the process no longer has a root directory, or does not exist. */
static bool has_ended(int32_t pid)
{
	char path[32], root[8];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	return readlink(path, root, sizeof(root)) < 0 && errno == ENOENT;
}

/* Opens the file in the process's namespaces. Sets process->gone if the process has ended. */
static bool open_own(const struct mt_perf_maps *maps, struct process *process)
{
	MT_CLEANUP_FREE char *status = mt_read_textf(NULL, "/proc/%d/status", process->pid);
	struct own_map map = {.pid = process->pid};
	long pid;
	int fd;

	process->gone = !status;
	if (!status)
		return false;
	map.uid = status_number(status, "\nUid:", true);
	map.gid = status_number(status, "\nGid:", true);
	pid = status_number(status, "\nNSpid:", true);
	snprintf(map.path, sizeof(map.path), "/tmp/perf-%d.map",
		 pid > 0 ? (int32_t)pid : process->pid);
	memcpy(process->file.path, map.path, sizeof(map.path));
	fd = mt_file_worker_open_with(maps->worker, namespace_of(process->pid), open_own_map, &map,
				      sizeof(map));
	process->gone = fd < 0 && has_ended(process->pid);
	return keep_own(maps, process, fd, status_number(status, "\nUid:", false));
}

/* Opens the file that an ended process left in the recorder's namespaces. */
static bool open_left(const struct mt_perf_maps *maps, struct process *process)
{
	int fd;

	snprintf(process->file.path, sizeof(process->file.path), "/tmp/perf-%d.map", process->pid);
	fd = mt_file_worker_open_with(maps->worker, namespace_of((int32_t)getpid()), open_left_map,
				      process->file.path, sizeof(process->file.path));
	if (!keep(maps, process, fd, (long)geteuid()))
		return false;
	if (process->file.status.st_mtime >= maps->since)
		return true;
	drop(maps, process);
	return false;
}

static bool open_any(struct mt_perf_maps *maps, struct process *process)
{
	return maps->open < OPEN_MAX && ((!process->gone && open_own(maps, process)) ||
					 (process->gone && open_left(maps, process)));
}

/* Opens the file, or sets the time of the next search. */
static void try_open(struct mt_perf_maps *maps, struct process *process, uint64_t now)
{
	if (open_any(maps, process)) {
		maps->open++;
		return;
	}
	process->due = process->gone ? UINT64_MAX : now + process->pause;
	process->pause = process->pause < LAST_NS / 2 ? process->pause * 2 : LAST_NS;
}

/* Returns true if the process has ended without a file, and no earlier file of it was carried. */
static bool is_forgotten(const struct process *process)
{
	return process->gone && process->file.fd < 0 && !process->file.time && !process->file.read;
}

/*
 * Removes a process; the last process takes its index. Without this, the list would grow forever on
 * a host where processes come and go.
 */
static void forget(struct mt_perf_maps *maps, size_t i)
{
	struct process *last = &maps->processes.items[maps->processes.count - 1];

	mt_map64_remove(&maps->index, (uint32_t)maps->processes.items[i].pid);
	if (i != maps->processes.count - 1) {
		maps->processes.items[i] = *last;
		(void)mt_map64_put(&maps->index, (uint32_t)last->pid, i); /* the key exists */
	}
	maps->processes.count--;
}

void mt_perf_maps_add(struct mt_perf_maps *maps, int32_t pid)
{
	struct process *process;
	uint64_t i;

	if (mt_map64_get(&maps->index, (uint32_t)pid, &i) || maps->processes.count >= PROCESSES_MAX)
		return;
	process = mt_array_push(&maps->processes);
	if (!process)
		return;
	*process = (struct process){.pid = pid, .pause = FIRST_NS, .file = {.pid = pid, .fd = -1}};
	if (!mt_map64_put(&maps->index, (uint32_t)pid, maps->processes.count - 1)) {
		maps->processes.count--;
		return;
	}
	try_open(maps, process, mt_clock_monotonic());
	if (is_forgotten(process))
		forget(maps, maps->processes.count - 1);
}

void mt_perf_maps_look(struct mt_perf_maps *maps, uint64_t now)
{
	for (size_t i = maps->processes.count; i--;) {
		struct process *process = &maps->processes.items[i];

		if (process->file.fd < 0 && process->due <= now)
			try_open(maps, process, now);
		if (is_forgotten(process))
			forget(maps, i);
	}
}

size_t mt_perf_maps_count(const struct mt_perf_maps *maps)
{
	return maps->processes.count;
}

/* Returns true if the file is due and has changed; lengthens the pause before the next check. */
static bool has_changed(const struct mt_perf_maps *maps, struct process *process, uint64_t now)
{
	struct mt_perf_map_file *file = &process->file;

	if (file->fd < 0 || process->piece_due > now || file->anew > ANEW_MAX)
		return false;
	process->piece_due = now + process->piece_pause;
	if (mt_file_worker_stat(maps->worker, file->fd, &file->status) ||
	    (uint64_t)file->status.st_size == file->carried)
		return false;
	process->piece_pause *= 2;
	if (process->piece_pause > LAST_PIECE_NS)
		process->piece_pause = LAST_PIECE_NS;
	return true;
}

struct mt_perf_map_file *mt_perf_maps_next_changed(struct mt_perf_maps *maps, uint64_t now)
{
	while (maps->asked < maps->processes.count) {
		struct process *process = &maps->processes.items[maps->asked++];

		if (has_changed(maps, process, now))
			return &process->file;
	}
	maps->asked = 0;
	return NULL;
}

uint64_t mt_perf_map_piece_time(const struct mt_perf_map_file *file, uint64_t time)
{
	return (time > file->time ? time : file->time + 1) | 1;
}

static bool take(struct mt_perf_maps *maps, struct process *process, uint64_t time,
		 struct mt_perf_map_file *out)
{
	if (process->file.fd < 0)
		try_open(maps, process, mt_clock_monotonic());
	if (process->file.fd < 0)
		return false;
	time += time & 1;
	process->file.read = time > process->file.read ? time : process->file.read + 2;
	*out = process->file;
	process->file.fd = -1;
	maps->open--;
	process->pause = FIRST_NS;
	process->due = mt_clock_monotonic() + FIRST_NS;
	return !mt_file_worker_stat(maps->worker, out->fd, &out->status);
}

bool mt_perf_maps_take(struct mt_perf_maps *maps, int32_t pid, uint64_t time,
		       struct mt_perf_map_file *out)
{
	uint64_t i;

	return mt_map64_get(&maps->index, (uint32_t)pid, &i) &&
	       take(maps, &maps->processes.items[i], time, out);
}

void mt_perf_maps_keep_time(struct mt_perf_maps *maps, int32_t pid, uint64_t time)
{
	uint64_t i;

	if (mt_map64_get(&maps->index, (uint32_t)pid, &i) &&
	    maps->processes.items[i].file.time < time)
		maps->processes.items[i].file.time = time;
}

bool mt_perf_maps_take_last(struct mt_perf_maps *maps, uint64_t time, struct mt_perf_map_file *out)
{
	while (maps->taken_last < maps->processes.count) {
		if (take(maps, &maps->processes.items[maps->taken_last++], time, out))
			return true;
	}
	return false;
}
