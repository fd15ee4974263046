/* A table of the holes seen, a queue of holes to examine, and the thread that examines them. */
#include "record/rings/prefault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/pages.h"
#include "record/proc/procfs.h"
#include "record/rings/wake_thread.h"

#define PAGE ((uint64_t)4096)
#define PID_BITS 22 /* PID_MAX_LIMIT */
#define SEEN_BITS 14
#define QUEUE 256
#define RATE 250 /* holes examined per second, because each costs a read of /proc/PID/maps */
#define JOIN_US 1000000

struct counters {
	_Atomic uint64_t faulted_in, ends, refused, put_off;
};

/* A hole is one number: the page number in the high bits, the pid in the low bits. */
struct mt_prefault {
	_Atomic uint64_t seen[1 << SEEN_BITS]; /* direct-mapped */
	_Atomic uint64_t queue[QUEUE];	       /* 0: free */
	_Atomic unsigned next;
	struct mt_wake_thread thread;
	bool reads_text; /* the kernel does not answer PROCMAP_QUERY */
	time_t second;	 /* the second of the current budget */
	unsigned looked;
	struct counters counts;
};

static _Atomic uint64_t *seen_slot(struct mt_prefault *prefault, uint64_t hole)
{
	return &prefault->seen[mt_hash64(hole) >> (64 - SEEN_BITS)];
}

/* Forgets the hole, so that the next report of it is accepted. */
static void put_off(struct mt_prefault *prefault, uint64_t hole)
{
	atomic_store_explicit(seen_slot(prefault, hole), 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&prefault->counts.put_off, 1, memory_order_relaxed);
}

void mt_prefault_request(struct mt_prefault *prefault, uint32_t pid, uint64_t address)
{
	uint64_t hole = address / PAGE << PID_BITS | pid, free_slot = 0;
	_Atomic uint64_t *seen = seen_slot(prefault, hole), *slot;

	if (!pid || pid >> PID_BITS || address >> 47 ||
	    atomic_load_explicit(seen, memory_order_relaxed) == hole)
		return;
	atomic_store_explicit(seen, hole, memory_order_relaxed);
	slot = &prefault->queue[atomic_fetch_add(&prefault->next, 1) % QUEUE];
	if (!atomic_compare_exchange_strong(slot, &free_slot, hole))
		put_off(prefault, hole);
	else
		mt_wake_thread_ask(&prefault->thread);
}

static enum mt_prefault_answer answer(bool goes_on, uint64_t inode)
{
	return !goes_on ? MT_PREFAULT_ENDS : inode ? MT_PREFAULT_FILE : MT_PREFAULT_CONTINUES;
}

enum mt_prefault_answer mt_prefault_continues(const char *maps, uint64_t address)
{
	for (const char *line = maps; line && *line; line = strchr(line, '\n')) {
		unsigned long long start, end, inode;

		line += *line == '\n';
		if (sscanf(line, "%llx-%llx %*s %*x %*s %llu", &start, &end, &inode) != 3)
			return MT_PREFAULT_ENDS;
		if (address > start && address <= end)
			return answer(address < end, inode);
	}
	return MT_PREFAULT_ENDS;
}

/* PROCMAP_QUERY of linux/fs.h, from Linux 6.11: the mapping that has an address. */
struct query {
	uint64_t size, flags, address, start, end, vma_flags, page_size, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};

_Static_assert(sizeof(struct query) == 104, "as the kernel has it");

#define MAPPING_QUERY _IOWR('f', 17, struct query)

enum mt_prefault_answer mt_prefault_ask(int maps, uint64_t address)
{
	struct query query = {.size = sizeof(query), .address = address - 1};

	if (!address)
		return MT_PREFAULT_ENDS;
	if (ioctl(maps, MAPPING_QUERY, &query))
		return errno == ENOENT ? MT_PREFAULT_ENDS : MT_PREFAULT_UNKNOWN;
	return answer(address < query.end, query.inode);
}

static enum mt_prefault_answer goes_on(struct mt_prefault *prefault, pid_t pid, uint64_t address)
{
	MT_CLEANUP_FREE char *text = NULL;
	MT_CLEANUP_CLOSE int fd = -1;
	enum mt_prefault_answer answer;

	if (!prefault->reads_text) {
		fd = mt_openf(O_RDONLY, "/proc/%d/maps", (int)pid);
		answer = fd < 0 ? MT_PREFAULT_UNKNOWN : mt_prefault_ask(fd, address);
		if (fd < 0 || answer != MT_PREFAULT_UNKNOWN || errno == ESRCH)
			return answer;
		prefault->reads_text = true;
	}
	text = mt_read_textf(NULL, "/proc/%d/maps", (int)pid);
	return text ? mt_prefault_continues(text, address) : MT_PREFAULT_UNKNOWN;
}

/*
 * Reads a byte of the page, unless the page is of a file, whose file system may be served by the
 * target or any other process. If that process does not answer, not even SIGKILL ends the read.
 */
static void look_at(struct mt_prefault *prefault, uint64_t hole)
{
	pid_t pid = (pid_t)(hole & ((1u << PID_BITS) - 1));
	uint64_t address = hole >> PID_BITS << 12;
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = 1};
	char byte;
	struct iovec local = {.iov_base = &byte, .iov_len = 1};
	enum mt_prefault_answer on = goes_on(prefault, pid, address);

	if (on == MT_PREFAULT_UNKNOWN || on == MT_PREFAULT_FILE)
		atomic_fetch_add(&prefault->counts.refused, 1);
	else if (on == MT_PREFAULT_ENDS)
		atomic_fetch_add(&prefault->counts.ends, 1);
	else if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1)
		atomic_fetch_add(&prefault->counts.faulted_in, 1);
	else
		atomic_fetch_add(&prefault->counts.refused, 1);
}

/* True if another hole may be examined in this second. */
static bool has_budget(struct mt_prefault *prefault)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec != prefault->second)
		prefault->looked = 0;
	prefault->second = now.tv_sec;
	return prefault->looked++ < RATE;
}

static void look_at_all(void *context)
{
	struct mt_prefault *prefault = context;

	for (size_t i = 0; i < QUEUE; i++) {
		uint64_t hole = atomic_exchange(&prefault->queue[i], 0);

		if (!hole)
			continue;
		if (has_budget(prefault))
			look_at(prefault, hole);
		else
			put_off(prefault, hole);
	}
}

struct mt_error *mt_prefault_create(struct mt_prefault **out)
{
	struct mt_prefault *prefault = calloc(1, sizeof(*prefault));
	struct mt_error *err;

	if (!prefault)
		return mt_error_nomem();
	mt_pages_ready(prefault, sizeof(*prefault)); /* drains write here, so populate it now */
	err = mt_wake_thread_start(&prefault->thread, look_at_all, prefault, "prefaults");
	if (err) {
		free(prefault);
		return err;
	}
	*out = prefault;
	return NULL;
}

void mt_prefault_destroy(struct mt_prefault *prefault)
{
	/* a page that the thread reads may never arrive (userfaultfd); then the data stays */
	if (prefault && mt_wake_thread_stop(&prefault->thread, JOIN_US))
		free(prefault);
}

struct mt_prefault_counts mt_prefault_counts(const struct mt_prefault *prefault)
{
	return (struct mt_prefault_counts){
		.faulted_in = atomic_load(&prefault->counts.faulted_in),
		.ends = atomic_load(&prefault->counts.ends),
		.refused = atomic_load(&prefault->counts.refused),
		.put_off = atomic_load(&prefault->counts.put_off),
	};
}
