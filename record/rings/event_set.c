/*
 * Opens the matrix of events, CPUs and tasks. A ring belongs to a disabled event on the recorder's
 * thread, so that it outlives any target. The sampling events write into it.
 */
#include "record/rings/event_set.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "record/open/cgroup.h"
#include "record/open/limits.h"
#include "record/open/perf_event.h"
#include "record/plan/plan.h"
#include "record/plan/throttle.h"
#include "record/proc/procfs.h"
#include "record/proc/stopping.h"
#include "record/rings/ring_sizes.h"

#define RING_MIN ((size_t)64 << 10)
#define RESCANS_MAX 100
#define SPARE_FILES 256 /* for rings, output and other open files */

static struct mt_error *ring_error(int errnum, size_t size)
{
	struct mt_error *err =
		mt_error_os(errnum, "cannot map a ring buffer of %zu KiB", size >> 10);

	if (errnum == EPERM)
		return mt_error_hint(
			err,
			"the mlock budget is spent, by other recorders too: as root, sysctl "
			"kernel.perf_event_mlock_kb=%zu, or ulimit -l unlimited",
			(MT_RING_RARE_MAX + 2 * RING_MIN) >> 10);
	return mt_error_hint(err, "ask for a smaller one with -m");
}

/* Opens the event that owns a ring: never enabled, on the recorder's thread. -1 with errno. */
static int open_owner(const struct mt_event_set *opened, int cpu, size_t ring_size)
{
	struct perf_event_attr attr = opened->plan->events.items[0].attr;

	attr.mmap = attr.mmap2 = attr.mmap_data = attr.comm = attr.comm_exec = attr.task =
		attr.inherit = 0;
	attr.exclude_kernel = 1;
	if (attr.wakeup_watermark > ring_size / 4)
		attr.wakeup_watermark = (uint32_t)(ring_size / 4);
	return mt_perf_open(&attr, 0, cpu, opened->features);
}

/*
 * Returns the requested size of a ring of that class. If the budget is short, the storm ring gets
 * most of it.
 */
static size_t ring_want(const struct mt_event_set *opened, enum mt_event_class class)
{
	size_t want = opened->ring_size, rare;

	if (class != MT_CLASS_RARE)
		return want;
	if (opened->ring_shrunk && mt_rings_has_class(opened->plan, MT_CLASS_STORM))
		want = want / 4 > RING_MIN ? want / 4 : RING_MIN;
	rare = mt_ring_size(opened->plan, MT_CLASS_RARE);
	return want < rare ? want : rare;
}

static struct mt_error *open_ring(struct mt_event_set *opened, struct mt_event_set_cpu *cpu,
				  enum mt_event_class class)
{
	size_t want = ring_want(opened, class);
	int fd = open_owner(opened, cpu->cpu, want), errnum;

	if (fd < 0)
		return mt_perf_open_error(errno, "of a ring buffer", false,
					  &opened->plan->events.items[0].attr);
	if (!mt_ring_map(fd, want, &cpu->rings[class]))
		return NULL;
	errnum = errno;
	close(fd);
	return ring_error(errnum, want);
}

static void close_rings(struct mt_event_set *opened)
{
	for (size_t i = 0; i < opened->cpus.count; i++) {
		for (int class = 0; class < MT_CLASSES; class ++) {
			struct mt_ring *ring = &opened->cpus.items[i].rings[class];
			int fd = ring->fd;

			if (!ring->page)
				continue;
			mt_ring_unmap(ring);
			close(fd);
		}
	}
}

static struct mt_error *open_rings(struct mt_event_set *opened)
{
	struct mt_error *err = NULL;

	for (size_t i = 0; i < opened->cpus.count && !err; i++) {
		for (int class = 0; class < MT_CLASSES && !err; class ++) {
			if (mt_rings_has_class(opened->plan, (enum mt_event_class) class))
				err = open_ring(opened, &opened->cpus.items[i],
						(enum mt_event_class) class);
		}
	}
	return err;
}

/*
 * Opens all rings with the largest size that the mlock budget allows for all of them, because the
 * first rings could otherwise take the whole budget and leave none for the last ones.
 */
static struct mt_error *open_rings_that_fit(struct mt_event_set *opened)
{
	struct mt_error *err = open_rings(opened);

	while (err && (err->errnum == EPERM || err->kind == MT_ERR_NOMEM) &&
	       opened->ring_size / 2 >= RING_MIN) {
		mt_error_destroy(err);
		close_rings(opened);
		opened->ring_size /= 2;
		opened->ring_shrunk = true;
		err = open_rings(opened);
	}
	return err;
}

static bool cpu_is_offline(const struct mt_event_set *opened, int cpu)
{
	int fd = open_owner(opened, cpu, RING_MIN);

	if (fd >= 0)
		close(fd);
	return fd < 0 && (errno == ENODEV || errno == EINVAL);
}

/*
 * Allocates the tables. Events with variants begin at the plan's start level; other events have no
 * level.
 */
static bool init_tables(struct mt_event_set *opened)
{
	const struct mt_plan *plan = opened->plan;

	opened->next_ids = calloc(1, sizeof(*opened->next_ids));
	opened->ids = opened->next_ids;
	opened->closed = calloc(plan->events.count, sizeof(*opened->closed));
	opened->levels = calloc(plan->events.count, sizeof(*opened->levels));
	for (uint32_t i = 0; opened->levels && i < plan->events.count; i++) {
		if (plan->events.items[i].full != i)
			opened->levels[plan->events.items[i].full] = plan->start_level;
	}
	return opened->ids && opened->closed && opened->levels;
}

/*
 * True if an event is to be enabled. One variant of each event is enabled. Marks and seeds are
 * enabled while their event is not thinned.
 */
static bool is_on(const struct mt_event_set *opened, uint32_t event)
{
	const struct mt_planned_event *planned = &opened->plan->events.items[event];

	if (opened->paused && planned->role != MT_ROLE_SIDEBAND)
		return false;
	if (planned->role == MT_ROLE_MARK && planned->pair != MT_EVENT_NONE)
		return mt_levels[opened->levels[planned->pair]].thinning == 1;
	if (planned->role == MT_ROLE_SEED)
		return mt_levels[opened->levels[planned->pair]].thinning == 1;
	return planned->level == opened->levels[planned->full];
}

struct mt_error *mt_event_set_init(const struct mt_plan *plan,
				   const struct mt_perf_features *features,
				   const struct mt_number_list *cpus, size_t ring_size,
				   struct mt_event_set *out)
{
	*out = (struct mt_event_set){
		.plan = plan, .features = features, .ring_size = ring_size, .cgroup = -1};
	if (!init_tables(out))
		return mt_error_nomem();
	for (size_t i = 0; i < cpus->count; i++) {
		struct mt_event_set_cpu *cpu;

		if (cpu_is_offline(out, cpus->items[i]))
			continue;
		cpu = mt_array_push(&out->cpus);
		if (!cpu)
			return mt_error_nomem();
		cpu->cpu = cpus->items[i];
	}
	if (!out->cpus.count)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "-C: none of these CPUs is online"),
				     "/sys/devices/system/cpu/online lists those that are");
	return ring_size ? open_rings_that_fit(out) : NULL;
}

/* Reads the id that the kernel writes into this event's records. */
static bool event_id(int fd, uint64_t *id)
{
	uint64_t values[3]; /* value, id, lost */

	if (!ioctl(fd, PERF_EVENT_IOC_ID, id))
		return true;
	if (read(fd, values, sizeof(values)) < 16) /* before 3.12 */
		return false;
	*id = values[1];
	return true;
}

static bool is_member(const struct mt_event_set *opened, uint32_t event)
{
	uint32_t leader = opened->plan->events.items[event].leader;

	return leader && leader != event;
}

static struct mt_error *adopt(struct mt_event_set *opened, const struct mt_event_set_cpu *cpu,
			      uint32_t event, int fd)
{
	const struct mt_planned_event *planned = &opened->plan->events.items[event];
	struct mt_event_set_event *slot = mt_array_push(&opened->events);
	uint64_t id;

	if (!slot) {
		close(fd);
		return mt_error_nomem();
	}
	*slot = (struct mt_event_set_event){.fd = fd, .event = event, .cpu = cpu->cpu};
	if (planned->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, planned->filter))
		return mt_error_os(errno, "%s: the kernel refuses the filter '%s'", planned->name,
				   planned->filter);
	if (!opened->ring_size)
		return NULL;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->rings[planned->class].fd) ||
	    !event_id(fd, &id))
		return mt_error_os(errno, "%s: cannot join its ring buffer", planned->name);
	slot->id = id;
	return mt_map64_put(opened->next_ids, id, event) ? NULL : mt_error_nomem();
}

/*
 * Returns the fd of the group leader of a member on that CPU, which is the leader opened last; -1
 * if there is none.
 */
static int find_leader(const struct mt_event_set *opened, const struct mt_event_set_cpu *cpu,
		       uint32_t leader)
{
	for (size_t i = opened->events.count; i--;) {
		if (opened->events.items[i].event == leader &&
		    opened->events.items[i].cpu == cpu->cpu)
			return opened->events.items[i].fd;
	}
	return -1;
}

/*
 * Returns an error if the target belongs to another user, which explains the failure; otherwise
 * NULL.
 */
static struct mt_error *owner_error(pid_t tid)
{
	struct stat status;
	char path[32], owner[32] = "root";

	snprintf(path, sizeof(path), "/proc/%d", tid);
	if (stat(path, &status) || status.st_uid == geteuid())
		return NULL;
	if (status.st_uid)
		snprintf(owner, sizeof(owner), "user %u", status.st_uid);
	return mt_error_create(MT_ERR_PERMISSION,
			       "process %d belongs to %s: run as root, or with CAP_PERFMON and "
			       "CAP_SYS_PTRACE",
			       tid, owner);
}

static struct mt_error *open_one_error(const struct mt_event_set *opened, uint32_t event, pid_t tid,
				       int errnum)
{
	const struct mt_planned_event *planned = &opened->plan->events.items[event];
	struct mt_error *err;

	err = tid > 0 && (errnum == EACCES || errnum == EPERM) ? owner_error(tid) : NULL;
	if (err)
		return err;
	if (opened->cgroup >= 0 && errnum != EACCES && errnum != EPERM && errnum != EMFILE)
		return mt_cgroup_error(errnum, opened->cgroup_name, planned->name);
	err = mt_perf_open_error(
		errnum, planned->role == MT_ROLE_SIDEBAND ? "of names and mappings" : planned->name,
		tid < 0, &planned->attr);
	if (errnum == EINVAL && is_member(opened, event))
		return mt_error_hint(err,
				     "it cannot be counted together with %s: the group has "
				     "more events than the CPU has counters, or of two PMUs",
				     opened->plan->events.items[planned->leader].name);
	return err;
}

/* internal to the kernel */
#define KERNEL_ENOTSUPP 524

/*
 * True if a probe cannot be set in the code at that address: the owner of the file may have changed
 * it since its symbols were read. If the allocators of all processes are probed, such a file is
 * skipped.
 */
static bool is_of_code(int error)
{
	return error == EINVAL || error == KERNEL_ENOTSUPP || error == ENOEXEC || error == EIO;
}

/* Opens one event on one CPU for one task (-1: all tasks). *gone: the task no longer exists. */
static struct mt_error *open_one(struct mt_event_set *opened, const struct mt_event_set_cpu *cpu,
				 uint32_t event, pid_t tid, bool on_exec, bool *gone)
{
	const struct mt_planned_event *planned = &opened->plan->events.items[event];
	bool member = is_member(opened, event);
	struct perf_event_attr attr = planned->attr;
	/* the side-band reports all tasks, because a task may move into the cgroup later */
	struct mt_perf_place place = {
		.pid = tid,
		.cgroup = planned->role != MT_ROLE_SIDEBAND ? opened->cgroup : -1,
		.cpu = cpu->cpu,
		.group = member ? find_leader(opened, cpu, planned->leader) : -1,
	};
	int fd;

	if (planned->left_out || (member && place.group < 0)) /* the CPU was unplugged meanwhile */
		return NULL;
	if (mt_is_stopping())
		return mt_stop_error();
	attr.enable_on_exec = on_exec && is_on(opened, event);
	fd = mt_perf_open_at(&attr, &place, opened->features);
	if (fd >= 0)
		return adopt(opened, cpu, event, fd);
	*gone = tid >= 0 && errno == ESRCH;
	if (*gone || (tid < 0 && errno == ENODEV)) /* ENODEV: unplugged meanwhile */
		return NULL;
	if (tid < 0 && planned->block && is_of_code(errno)) {
		opened->refused = opened->refused ? opened->refused : planned->name;
		return NULL;
	}
	return open_one_error(opened, event, tid, errno);
}

static struct mt_error *open_everywhere(struct mt_event_set *opened, pid_t tid, bool on_exec)
{
	struct mt_error *err = NULL;
	bool gone = false;

	for (uint32_t event = 0; event < opened->plan->events.count && !err && !gone; event++) {
		for (size_t i = 0; i < opened->cpus.count && !err && !gone; i++)
			err = open_one(opened, &opened->cpus.items[i], event, tid, on_exec, &gone);
	}
	return err;
}

struct mt_error *mt_event_set_add_cpus(struct mt_event_set *opened)
{
	return open_everywhere(opened, -1, false);
}

struct mt_error *mt_event_set_add_task(struct mt_event_set *opened, pid_t tid, bool on_exec)
{
	if (!mt_map64_put(&opened->tasks, (uint64_t)tid, 1))
		return mt_error_nomem();
	return open_everywhere(opened, tid, on_exec);
}

/* A pass over /proc/PID/task. */
struct pass {
	struct mt_event_set *opened;
	size_t threads, added; /* threads listed; threads opened in this pass */
	struct mt_error *err;
};

static void count_thread(void *context, pid_t tid)
{
	struct pass *pass = context;

	(void)tid;
	pass->threads++;
}

static void add_thread(void *context, pid_t tid)
{
	struct pass *pass = context;
	uint64_t ignored;

	if (pass->err || mt_map64_get(&pass->opened->tasks, (uint64_t)tid, &ignored))
		return;
	pass->added++;
	pass->err = mt_event_set_add_task(pass->opened, tid, false);
}

/* Returns the error of too few descriptors for every thread, CPU and event, with a hint. */
static struct mt_error *too_many_files(const struct mt_event_set *opened, size_t threads)
{
	size_t each = opened->cpus.count * opened->plan->events.count;

	return mt_error_hint(
		mt_error_os(EMFILE, "cannot open an event for each thread"),
		"%zu threads, %zu CPUs and %zu events need %zu open files, the limit is %llu: "
		"ulimit -n %zu, or fewer events with -e",
		threads, opened->cpus.count, opened->plan->events.count, threads * each,
		(unsigned long long)mt_limits_files(), threads * each + SPARE_FILES);
}

/*
 * True if the limit on open files suffices. Checked first, because opening thousands of files only
 * to fail takes long.
 */
static bool fits_files(const struct mt_event_set *opened, size_t threads)
{
	return (opened->events.count + threads * opened->cpus.count * opened->plan->events.count) +
		       SPARE_FILES <=
	       mt_limits_files();
}

struct mt_error *mt_event_set_add_process(struct mt_event_set *opened, pid_t pid)
{
	struct pass pass = {.opened = opened, .added = 1};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (!mt_each_number(path, count_thread, &pass))
		return mt_error_create(MT_ERR_NOT_FOUND,
				       "-p: process %d had ended before recording began", pid);
	if (!fits_files(opened, pass.threads))
		return too_many_files(opened, pass.threads);
	for (int i = 0; i < RESCANS_MAX && pass.added && !pass.err; i++) {
		pass.added = 0;
		(void)mt_each_number(path, add_thread, &pass);
	}
	return pass.err;
}

/* Enables or disables an open event as is_on() requires. */
static void settle(const struct mt_event_set *opened, const struct mt_event_set_event *e)
{
	ioctl(e->fd, is_on(opened, e->event) ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/*
 * Enables or disables, as is_on() requires, the open events of a class (MT_CLASSES: of all) and of
 * a CPU (NULL: of all). Group members come first, each group from its leader on. If another event
 * already runs, Linux 6.18 does not schedule a member of another PMU on that CPU (such as a
 * tracepoint with page faults) until all events are rescheduled.
 */
static void settle_all(const struct mt_event_set *opened, enum mt_event_class class, const int *cpu)
{
	for (int members = 1; members >= 0; members--) {
		for (size_t i = 0; i < opened->events.count; i++) {
			const struct mt_event_set_event *e = &opened->events.items[i];

			if (is_member(opened, e->event) == members && (!cpu || e->cpu == *cpu) &&
			    (class == MT_CLASSES ||
			     opened->plan->events.items[e->event].class == class))
				settle(opened, e);
		}
	}
}

void mt_event_set_enable(struct mt_event_set *opened, enum mt_event_class class)
{
	settle_all(opened, class, NULL);
}

static void destroy_ids(struct mt_map64 *ids)
{
	if (ids)
		mt_map64_deinit(ids);
	free(ids);
}

/* Copies the ids of all open events. */
static struct mt_map64 *copy_ids(const struct mt_event_set *opened)
{
	struct mt_map64 *ids = calloc(1, sizeof(*ids));

	for (size_t i = 0; ids && i < opened->events.count; i++) {
		const struct mt_event_set_event *e = &opened->events.items[i];

		if (mt_map64_put(ids, e->id, e->event))
			continue;
		destroy_ids(ids);
		return NULL;
	}
	return ids;
}

/*
 * Starts a new map for events that are about to be opened, because drains read the current map. The
 * new map replaces the current one when it is complete.
 */
static bool begin_ids(struct mt_event_set *opened)
{
	struct mt_map64 *ids = copy_ids(opened),
			**old = ids ? mt_array_push(&opened->old_ids) : NULL;

	if (!old) {
		destroy_ids(ids);
		return false;
	}
	*old = opened->ids;
	opened->next_ids = ids;
	return true;
}

enum {
	READ_WORDS = 64, /* of a group: the count, then value, id and lost of each event */
};

/*
 * Returns one field of the data from read(): field 0 is the count, field 2 the lost records.
 * Returns 0 if there is no such field. In a group, the number of events comes first, then the
 * leader.
 */
static uint64_t read_field(const struct mt_event_set *opened, const struct mt_event_set_event *e,
			   size_t field)
{
	bool group = opened->plan->events.items[e->event].attr.read_format & PERF_FORMAT_GROUP;
	uint64_t values[READ_WORDS];
	ssize_t size = read(e->fd, values, sizeof(values));

	return size > 0 && (size_t)size >= (group + field + 1) * sizeof(values[0])
		       ? values[group + field]
		       : 0;
}

/*
 * Closes the open events of one CPU (NULL: of all) and of one planned event (MT_EVENT_NONE: of
 * all).
 */
static void close_events(struct mt_event_set *opened, const int *cpu, uint32_t event)
{
	size_t kept = 0;

	for (size_t i = 0; i < opened->events.count; i++) {
		const struct mt_event_set_event *e = &opened->events.items[i];

		if ((cpu && e->cpu != *cpu) || (event != MT_EVENT_NONE && e->event != event)) {
			opened->events.items[kept++] = *e;
			continue;
		}
		opened->closed[e->event].count += read_field(opened, e, 0);
		opened->closed[e->event].lost += read_field(opened, e, 2);
		close(e->fd);
	}
	opened->events.count = kept;
}

void mt_event_set_close_event(struct mt_event_set *opened, uint32_t event)
{
	close_events(opened, NULL, event);
}

struct mt_error *mt_event_set_reopen_cpu(struct mt_event_set *opened, size_t place)
{
	const struct mt_event_set_cpu *cpu = &opened->cpus.items[place];
	struct mt_error *err = NULL;
	bool gone = false;

	if (!begin_ids(opened))
		return mt_error_nomem();
	close_events(opened, &cpu->cpu, MT_EVENT_NONE);
	for (uint32_t event = 0; event < opened->plan->events.count && !err && !gone; event++)
		err = open_one(opened, cpu, event, -1, false, &gone);
	opened->ids = opened->next_ids;
	settle_all(opened, MT_CLASSES, &cpu->cpu);
	return err;
}

void mt_event_set_set_level(struct mt_event_set *opened, uint32_t event, int level)
{
	opened->levels[event] = level;
	for (size_t i = 0; i < opened->events.count; i++) {
		const struct mt_event_set_event *e = &opened->events.items[i];
		const struct mt_planned_event *planned = &opened->plan->events.items[e->event];

		if (planned->full == event ||
		    (planned->role != MT_ROLE_SAMPLE && planned->pair == event))
			settle(opened, e);
	}
}

void mt_event_set_pause(struct mt_event_set *opened, bool paused)
{
	opened->paused = paused;
	settle_all(opened, MT_CLASSES, NULL);
}

void mt_event_set_disable(struct mt_event_set *opened)
{
	for (size_t i = 0; i < opened->events.count; i++)
		ioctl(opened->events.items[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void mt_event_set_disable_event(struct mt_event_set *opened, uint32_t event)
{
	for (size_t i = 0; i < opened->events.count; i++) {
		if (opened->events.items[i].event == event)
			ioctl(opened->events.items[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/* Sums a field over all fds of an event. */
static uint64_t sum_field(const struct mt_event_set *opened, uint32_t event, size_t field)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < opened->events.count; i++) {
		if (opened->events.items[i].event == event)
			sum += read_field(opened, &opened->events.items[i], field);
	}
	return sum;
}

uint64_t mt_event_set_count(const struct mt_event_set *opened, uint32_t event)
{
	return opened->closed[event].count + sum_field(opened, event, 0);
}

uint64_t mt_event_set_lost(const struct mt_event_set *opened, uint32_t event)
{
	return opened->features->format_lost
		       ? opened->closed[event].lost + sum_field(opened, event, 2)
		       : 0;
}

void mt_event_set_deinit(struct mt_event_set *opened)
{
	for (size_t i = 0; i < opened->events.count; i++)
		close(opened->events.items[i].fd);
	close_rings(opened);
	mt_array_deinit(&opened->cpus);
	mt_array_deinit(&opened->events);
	mt_map64_deinit(&opened->tasks);
	destroy_ids(opened->ids);
	for (size_t i = 0; i < opened->old_ids.count; i++)
		destroy_ids(opened->old_ids.items[i]);
	mt_array_deinit(&opened->old_ids);
	free(opened->closed);
	free(opened->levels);
}
