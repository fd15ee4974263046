/* Finds tracepoint ids by trying them in a separate process. */
#include "record/tracepoints/tracepoint_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/open/limits.h"
#include "record/open/perf_event.h"
#include "record/open/ring.h"
#include "record/proc/numbers.h"
#include "record/tracepoints/tracepoint_ids.h"

#define RING_PAGES 8
#define BATCH 48	 /* ids that are opened between two rounds of calls */
#define UNKNOWN_MAX 1024 /* consecutive unknown ids after which the search ends */
#define ID_MAX 65535
#define MARKER 0x123 /* address that every call refuses: unaligned, below every heap */
#define TIMEOUT_MS 10000

/* A system call of the event table, with its number on this architecture. */
struct call {
	const char *name;
	long number;
};

#define MT_SOFTWARE(...)
#define MT_HARDWARE(...)
#define MT_CACHE(...)
#define MT_MARK(...)
#define MT_GROUP(...)
#define MT_ALLOCATOR(...)
#define MT_SYSCALL(name, ...) {#name, SYS_##name},

static const struct call syscalls[] = {
#include "formats/records/events.def"
};

#define CALLS (sizeof(syscalls) / sizeof(*syscalls))

bool mt_syscall_number(const char *name, long *number)
{
	for (size_t i = 0; i < CALLS; i++) {
		if (strcmp(syscalls[i].name, name))
			continue;
		*number = syscalls[i].number;
		return true;
	}
	return false;
}

/* An id whose event counted a call. */
struct answer {
	uint16_t id;
	long call;   /* number of the first call that the event counted */
	bool enter;  /* the first argument was MARKER */
	bool others; /* it counted more than one kind of call: raw_syscalls */
};

struct scan {
	const struct mt_perf_features *features;
	struct mt_ring ring; /* ring of a software event that never occurs */
	MT_ARRAY(struct answer) answers;
	uint8_t tried[ID_MAX + 1];
	size_t opened; /* ids opened in this batch */
	unsigned batches;
	struct mt_tracepoint_ids found;
	bool calls[CALLS]; /* calls of the table that are tried */
};

static int open_self(const struct scan *scan, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = mt_perf_attr(type, config);

	attr.sample_type = PERF_SAMPLE_RAW;
	return mt_perf_open(&attr, 0, -1, scan->features);
}

static bool open_ring(struct scan *scan)
{
	int fd = open_self(scan, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS);

	return fd >= 0 && !mt_ring_map(fd, RING_PAGES * (size_t)sysconf(_SC_PAGESIZE), &scan->ring);
}

static void note_answer(struct scan *scan, const uint8_t *raw)
{
	uint16_t id = (uint16_t)(raw[0] | raw[1] << 8);
	long call = (int32_t)mt_get_le32(raw + 8);
	struct answer *slot = NULL;

	for (size_t i = 0; i < scan->answers.count && !slot; i++) {
		if (scan->answers.items[i].id == id)
			slot = &scan->answers.items[i];
	}
	if (slot) {
		slot->others |= slot->call != call;
		return;
	}
	(void)mt_array_append(&scan->answers,
			      ((struct answer){id, call, mt_get_le64(raw + 16) == MARKER, false}));
}

static void read_answers(struct scan *scan)
{
	const struct perf_event_header *header;

	mt_ring_begin(&scan->ring);
	while ((header = mt_ring_next(&scan->ring))) {
		const uint8_t *record = (const uint8_t *)header;

		/* u32 size of the raw part, its common fields, the call's number, a value */
		if (header->type == PERF_RECORD_SAMPLE && header->size >= sizeof(*header) + 4 + 24)
			note_answer(scan, record + sizeof(*header) + 4);
	}
	mt_ring_give_back(&scan->ring);
}

/*
 * Makes a call with arguments that make it fail. brk succeeds and does nothing. shmat succeeds if a
 * segment of that id exists, which stays attached as long as this process lives.
 */
static long make_call(const struct call *call)
{
	return syscall(call->number, (long)MARKER, 0L, 0L, 0L, -1L, 0L);
}

/*
 * Calls that are never tried. remap_file_pages writes a warning into the kernel's log. shmctl would
 * remove a segment whose id is MARKER. munlockall has no argument, so its two tracepoints look
 * alike. The ledger of a process is complete without the remaining calls.
 */
static const long untried[] = {
	SYS_remap_file_pages, SYS_shmctl, SYS_munlockall, SYS_mlockall, SYS_shmget,
	SYS_memfd_create,     SYS_mlock2, SYS_munlock,	  SYS_mbind,	SYS_migrate_pages,
	SYS_move_pages,
};

/*
 * Returns true if a call is to be tried. Returns false also if the kernel or a seccomp filter
 * refuses the call before its tracepoints.
 */
static bool is_tried(const struct call *call)
{
	for (size_t i = 0; i < sizeof(untried) / sizeof(*untried); i++) {
		if (call->number == untried[i])
			return false;
	}
	return !make_call(call) || (errno != ENOSYS && errno != EPERM);
}

static void choose_calls(struct scan *scan)
{
	for (size_t i = 0; i < CALLS; i++)
		scan->calls[i] = is_tried(&syscalls[i]);
}

static void make_calls(const struct scan *scan)
{
	for (size_t i = 0; i < CALLS; i++) {
		if (scan->calls[i])
			make_call(&syscalls[i]);
	}
}

static void name_answer(struct scan *scan, const struct answer *answer)
{
	char name[128];

	if (answer->others) {
		mt_tracepoint_ids_add(&scan->found,
				      answer->enter ? "raw_syscalls:sys_enter"
						    : "raw_syscalls:sys_exit",
				      answer->id, NULL);
		return;
	}
	for (size_t i = 0; i < CALLS; i++) {
		if (syscalls[i].number != answer->call)
			continue;
		snprintf(name, sizeof(name), "syscalls:sys_%s_%s", answer->enter ? "enter" : "exit",
			 syscalls[i].name);
		mt_tracepoint_ids_add(&scan->found, name, answer->id, NULL);
	}
}

/* Makes a round of calls while the opened events are enabled. */
static void end_batch(struct scan *scan)
{
	scan->answers.count = 0;
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	make_calls(scan);
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	read_answers(scan);
	for (size_t i = 0; i < scan->answers.count; i++)
		name_answer(scan, &scan->answers.items[i]);
	scan->opened = 0;
	scan->batches++;
}

/* Returns 0 if the id was opened or tried before, else the errno. */
static int try_id(struct scan *scan, uint64_t id)
{
	int fd;

	if (!id || id > ID_MAX || scan->tried[id])
		return 0;
	fd = open_self(scan, PERF_TYPE_TRACEPOINT, id);
	if (fd < 0)
		return errno;
	scan->tried[id] = true; /* trying a refused id again costs nothing */
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, scan->ring.fd)) {
		close(fd);
		return errno;
	}
	if (++scan->opened == BATCH)
		end_batch(scan);
	return 0;
}

/* Returns the i-th possible name; NULL after the last, empty if it is not wanted. */
static const char *wanted_name(const struct scan *scan, size_t i, char name[128])
{
	if (i >= 2 * CALLS)
		return NULL;
	*name = '\0';
	if (scan->calls[i / 2])
		snprintf(name, 128, "syscalls:sys_%s_%s", i % 2 ? "enter" : "exit",
			 syscalls[i / 2].name);
	return name;
}

static bool has_all(const struct scan *scan)
{
	char name[128];

	for (size_t i = 0; wanted_name(scan, i, name); i++) {
		if (*name && !mt_tracepoint_ids_find(&scan->found, name))
			return false;
	}
	return true;
}

static void try_candidates(struct scan *scan, const struct mt_tracepoint_ids *candidates)
{
	char name[128];

	for (size_t i = 0; candidates && wanted_name(scan, i, name); i++) {
		const struct mt_tracepoint_id *candidate = mt_tracepoint_ids_find(candidates, name);

		if (candidate)
			try_id(scan, candidate->id);
	}
	end_batch(scan);
}

/* Tries adjacent ids, because the kernel gives a call's two tracepoints consecutive ids. */
static void try_neighbours(struct scan *scan)
{
	size_t count = scan->found.items.count;

	for (size_t i = 0; i < count; i++) {
		try_id(scan, scan->found.items.items[i].id - 1);
		try_id(scan, scan->found.items.items[i].id + 1);
	}
	end_batch(scan);
}

/* Tries all ids, or every second of those that open, because the other id of a pair is adjacent. */
static void try_all(struct scan *scan, bool every_second)
{
	unsigned unknown = 0, batches = scan->batches;

	for (uint64_t id = 1; id <= ID_MAX && unknown < UNKNOWN_MAX; id++) {
		int errnum = try_id(scan, id);

		if (errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM)
			break;
		unknown = errnum == EINVAL || errnum == ENOENT ? unknown + 1 : 0;
		if (every_second && scan->tried[id])
			id++;
		if (scan->batches == batches)
			continue;
		try_neighbours(scan);
		if (has_all(scan))
			return;
		batches = scan->batches;
	}
	end_batch(scan);
	try_neighbours(scan);
}

/* Drops capabilities, because CAP_PERFMON would open every tracepoint, not only system calls. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	syscall(SYS_capset, &header, none);
}

/* Closes the recorder's output, so that its readers do not wait for this process. */
static void close_all_but(int keep, int keep_too)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;
	uint64_t fd;

	while (fds && (entry = readdir(fds))) {
		if (mt_parse_u64(entry->d_name, &fd) && (int)fd != keep && (int)fd != keep_too &&
		    (int)fd != dirfd(fds))
			close((int)fd);
	}
	if (fds)
		closedir(fds);
}

static void scan_ids(struct scan *scan, const struct mt_tracepoint_ids *candidates, bool everywhere)
{
	if (!open_ring(scan))
		return;
	choose_calls(scan);
	try_candidates(scan, candidates);
	if (everywhere && !has_all(scan))
		try_all(scan, true);
	if (everywhere && !has_all(scan))
		try_all(scan, false);
}

/* The scanning process: writes its answer into `to`, then waits until the recorder has ended. */
static __attribute__((noreturn)) void scan_main(const struct mt_perf_features *features,
						const struct mt_tracepoint_ids *candidates,
						bool everywhere, int to, int hold)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	FILE *answer = fdopen(to, "w");
	char byte;

	if (!scan || !answer)
		_exit(1);
	prctl(PR_SET_NAME, "mtrec-ids");
	close_all_but(to, hold);
	drop_capabilities();
	(void)mt_limits_raise_files();
	scan->features = features;
	scan_ids(scan, candidates, everywhere);
	mt_tracepoint_ids_write(&scan->found, answer);
	fclose(answer);
	(void)!read(hold, &byte, 1);
	_exit(0);
}

/* Forks twice, so that no process has to reap the scanning process. */
static bool start(const struct mt_perf_features *features,
		  const struct mt_tracepoint_ids *candidates, bool everywhere, const int answer[2],
		  const int hold[2])
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return false;
	if (pid) {
		waitpid(pid, &status, 0);
		return WIFEXITED(status) && !WEXITSTATUS(status);
	}
	pid = fork();
	if (pid)
		_exit(pid < 0);
	close(hold[1]);
	scan_main(features, candidates, everywhere, answer[1], hold[0]);
}

/* Reads the answer, or the part of it that arrived in time. */
static char *read_answer(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	char *text = calloc(1, 1 << 16);
	size_t used = 0;
	ssize_t n = 1;

	while (text && n > 0 && used < (1 << 16) - 1 && poll(&poll_fd, 1, TIMEOUT_MS) == 1) {
		n = read(fd, text + used, (1 << 16) - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	}
	return text;
}

struct mt_error *mt_tracepoint_scan(const struct mt_perf_features *features,
				    const struct mt_tracepoint_ids *candidates, bool everywhere,
				    struct mt_tracepoint_ids *out, int *hold)
{
	MT_CLEANUP_FREE char *text = NULL;
	int answer[2], holding[2];
	bool started;

	if (pipe2(answer, O_CLOEXEC))
		return mt_error_os(errno, "cannot make a pipe");
	if (pipe2(holding, O_CLOEXEC)) {
		close(answer[0]);
		close(answer[1]);
		return mt_error_os(errno, "cannot make a pipe");
	}
	started = start(features, candidates, everywhere, answer, holding);
	close(answer[1]);
	close(holding[0]);
	text = started ? read_answer(answer[0]) : NULL;
	close(answer[0]);
	*hold = holding[1];
	if (!text || !*text)
		return mt_error_create(MT_ERR_OS, "the scan for tracepoint ids gave no answer");
	return mt_tracepoint_ids_parse("the scan's answer", text, out);
}
