/* Calls perf_event_open, explains its errors, and probes the features of this kernel. */
#include "record/open/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "record/proc/procfs.h"

#define MAX_RATE "/proc/sys/kernel/perf_event_max_sample_rate"

int mt_perf_open_at(const struct perf_event_attr *attr, const struct mt_perf_place *place,
		    const struct mt_perf_features *features)
{
	unsigned long flags = features->cloexec ? PERF_FLAG_FD_CLOEXEC : 0;
	bool cgroup = place->cgroup >= 0;

	return (int)syscall(SYS_perf_event_open, attr, cgroup ? place->cgroup : place->pid,
			    place->cpu, place->group, flags | (cgroup ? PERF_FLAG_PID_CGROUP : 0));
}

int mt_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
		 const struct mt_perf_features *features)
{
	const struct mt_perf_place place = {.pid = pid, .cgroup = -1, .cpu = cpu, .group = -1};

	return mt_perf_open_at(attr, &place, features);
}

struct perf_event_attr mt_perf_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = 1,
	};
}

bool mt_perf_opens(const struct perf_event_attr *attr, pid_t pid, int cpu,
		   const struct mt_perf_features *features)
{
	int fd = mt_perf_open(attr, pid, cpu, features);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static struct mt_error *permission_hint(struct mt_error *err, bool system_wide,
					const struct perf_event_attr *attr)
{
	long paranoid = mt_read_number("/proc/sys/kernel/perf_event_paranoid", 2);

	err->kind = MT_ERR_PERMISSION;
	if (attr->type == PERF_TYPE_TRACEPOINT && paranoid > -1)
		return mt_error_hint(
			err,
			"perf_event_paranoid is %ld: run as root, give mtrec CAP_PERFMON, or have "
			"root run: "
			"sysctl kernel.perf_event_paranoid=-1",
			paranoid);
	if (system_wide)
		return mt_error_hint(
			err,
			"perf_event_paranoid is %ld: recording every process needs root, "
			"CAP_PERFMON, or: "
			"sysctl kernel.perf_event_paranoid=0",
			paranoid);
	return mt_error_hint(
		err,
		"perf_event_paranoid is %ld: run as root, give mtrec CAP_PERFMON, or have root "
		"run: sysctl kernel.perf_event_paranoid=2",
		paranoid);
}

static struct mt_error *rate_hint(struct mt_error *err, const struct perf_event_attr *attr)
{
	long most = mt_read_number(MAX_RATE, 0);

	if (most <= 0 || attr->sample_freq <= (uint64_t)most)
		return err;
	return mt_error_hint(err,
			     "kernel.perf_event_max_sample_rate is %ld: -F %ld, or as root: "
			     "sysctl kernel.perf_event_max_sample_rate=%llu",
			     most, most, (unsigned long long)attr->sample_freq);
}

struct mt_error *mt_perf_open_error(int errnum, const char *name, bool system_wide,
				    const struct perf_event_attr *attr)
{
	struct mt_error *err = mt_error_os(errnum, "cannot open the event %s", name);

	switch (errnum) {
	case EACCES:
	case EPERM:
		return permission_hint(err, system_wide, attr);
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		if (errnum == EOPNOTSUPP && (attr->branch_sample_type || attr->precise_ip))
			return mt_error_hint(
				err, attr->branch_sample_type
					     ? "this event has no branch records here (a virtual "
					       "machine, or no such hardware): leave out "
					       "--call-graph lbr"
					     : "it cannot be as precise here: fewer p behind the "
					       "colon, or none");
		if (attr->type != PERF_TYPE_HARDWARE && attr->type != PERF_TYPE_HW_CACHE &&
		    attr->type != PERF_TYPE_RAW)
			return mt_error_hint(
				err,
				"this kernel does not have it; mtrec --list shows what it has");
		return mt_error_hint(
			err, "this machine shows no hardware counters (a virtual machine without a "
			     "PMU?): "
			     "cpu-clock samples by time instead");
	case EMFILE:
		return mt_error_hint(
			err, "too many files: one is needed for each thread, CPU and event; raise "
			     "ulimit -n, or use -a");
	case EINVAL:
		if (attr->type > PERF_TYPE_BREAKPOINT)
			return mt_error_hint(err, "this PMU may be one that counts and takes no "
						  "samples: cpu-clock samples by time instead");
		return attr->freq ? rate_hint(err, attr) : err;
	case ESRCH:
		return mt_error_hint(err, "the process or thread is gone");
	case EBUSY:
		return mt_error_hint(err, "another tool holds the counters");
	default:
		return err;
	}
}

void mt_perf_print_attr(const struct perf_event_attr *attr, FILE *to)
{
	const struct {
		const char *name;
		uint64_t value;
	} fields[] = {
		{"type", attr->type},
		{"config", attr->config},
		{"sample_period or freq", attr->sample_period},
		{"sample_type", attr->sample_type},
		{"read_format", attr->read_format},
		{"freq", attr->freq},
		{"inherit", attr->inherit},
		{"disabled", attr->disabled},
		{"enable_on_exec", attr->enable_on_exec},
		{"exclude_kernel", attr->exclude_kernel},
		{"exclude_user", attr->exclude_user},
		{"exclude_hv", attr->exclude_hv},
		{"exclude_idle", attr->exclude_idle},
		{"exclude_host", attr->exclude_host},
		{"exclude_guest", attr->exclude_guest},
		{"precise_ip", attr->precise_ip},
		{"pinned", attr->pinned},
		{"exclusive", attr->exclusive},
		{"config1", attr->config1},
		{"config2", attr->config2},
		{"branch_sample_type", attr->branch_sample_type},
		{"mmap", attr->mmap},
		{"mmap2", attr->mmap2},
		{"mmap_data", attr->mmap_data},
		{"comm", attr->comm},
		{"comm_exec", attr->comm_exec},
		{"task", attr->task},
		{"sample_id_all", attr->sample_id_all},
		{"use_clockid", attr->use_clockid},
		{"clockid", (uint64_t)attr->clockid},
		{"wakeup_watermark", attr->watermark ? attr->wakeup_watermark : 0},
		{"sample_regs_user", attr->sample_regs_user},
		{"sample_stack_user", attr->sample_stack_user},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].value)
			fprintf(to, "  %-22s 0x%llx\n", fields[i].name,
				(unsigned long long)fields[i].value);
	}
}

#define MAX_RATE_FILE "/proc/sys/kernel/perf_event_max_sample_rate"
#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

static void ask_kernel_frames(struct perf_event_attr *attr)
{
	attr->exclude_kernel = 0;
}

static void ask_format_lost(struct perf_event_attr *attr)
{
	attr->read_format |= PERF_FORMAT_LOST;
}

static void ask_clockid(struct perf_event_attr *attr)
{
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

static void ask_comm_exec(struct perf_event_attr *attr)
{
	attr->comm = attr->comm_exec = 1;
}

static void ask_mmap2(struct perf_event_attr *attr)
{
	attr->mmap = attr->mmap2 = 1;
}

static void ask_identifier(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
}

static void ask_dummy(struct perf_event_attr *attr)
{
	attr->config = PERF_COUNT_SW_DUMMY;
}

static void ask_user_stack(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = 1;
	attr->sample_stack_user = 8;
}

#define OFFSET(member) offsetof(struct mt_perf_features, member)

static const struct mt_feature rows[] = {
	{.name = "kernel side",
	 .since = "perf_event_paranoid 1 or CAP_PERFMON",
	 .cost = "no kernel frames; faults raised inside system calls are not seen",
	 .offset = OFFSET(kernel_frames),
	 .ask = ask_kernel_frames},
	{.name = "lost counts",
	 .since = "Linux 6.0",
	 .cost = "losses with no record behind them go uncounted",
	 .offset = OFFSET(format_lost),
	 .ask = ask_format_lost},
	{.name = "event clock",
	 .since = "Linux 4.1",
	 .cost = "times are the kernel's perf clock, related to UTC by anchors",
	 .offset = OFFSET(clockid),
	 .ask = ask_clockid},
	{.name = "exec in COMM",
	 .since = "Linux 3.16",
	 .cost = "a renamed thread and an exec look alike",
	 .offset = OFFSET(comm_exec),
	 .ask = ask_comm_exec},
	{.name = "close on exec",
	 .since = "Linux 3.14",
	 .cost = "the command is forked before the events are open",
	 .harmless = true,
	 .offset = OFFSET(cloexec)},
	{.name = "MMAP2",
	 .since = "Linux 3.12",
	 .cost = "files of new mappings are identified by path, not by inode",
	 .offset = OFFSET(mmap2),
	 .ask = ask_mmap2},
	{.name = "identifier first",
	 .since = "Linux 3.12",
	 .cost = "all samples of a ring begin alike, with 16 to 24 bytes more",
	 .offset = OFFSET(identifier),
	 .ask = ask_identifier},
	{.name = "dummy event",
	 .since = "Linux 3.12",
	 .cost = "an event that never comes stands in",
	 .harmless = true,
	 .offset = OFFSET(dummy),
	 .ask = ask_dummy},
	{.name = "id by ioctl",
	 .since = "Linux 3.12",
	 .cost = "read() returns the id, too",
	 .harmless = true,
	 .offset = OFFSET(ioc_id)},
	{.name = "user stacks",
	 .since = "Linux 3.7, and this architecture's support",
	 .cost = "stacks along frame pointers only: most code is built without",
	 .offset = OFFSET(user_stack),
	 .ask = ask_user_stack},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

const struct mt_feature *mt_feature_rows(size_t *count)
{
	*count = ROW_COUNT;
	return rows;
}

static bool *feature_of(struct mt_perf_features *features, const struct mt_feature *row)
{
	return (bool *)((char *)features + row->offset);
}

bool mt_feature_has(const struct mt_perf_features *features, const struct mt_feature *row)
{
	return *((const bool *)((const char *)features + row->offset));
}

/*
 * Returns the attr of an event that any user may open on any kernel: disabled and without the
 * kernel.
 */
static struct perf_event_attr base_attr(void)
{
	struct perf_event_attr attr = mt_perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	attr.sample_period = 1000000;
	attr.sample_id_all = 1;
	return attr;
}

/* Opens an event with all features together; a kernel may refuse a combination of features. */
static bool opens_with(const struct mt_perf_features *features)
{
	struct perf_event_attr attr = base_attr();

	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (rows[i].ask && mt_feature_has(features, &rows[i]))
			rows[i].ask(&attr);
	}
	return mt_perf_opens(&attr, 0, -1, features);
}

/* Explains why the kernel refuses even the base event. */
static struct mt_error *no_perf_events(int errnum)
{
	struct mt_error *err = mt_error_os(errnum, "cannot record: perf_event_open");
	long paranoid = mt_read_number("/proc/sys/kernel/perf_event_paranoid", -100);

	if (errnum == EMFILE || errnum == ENFILE)
		return mt_error_hint(err, "%s",
				     errnum == EMFILE ? "raise ulimit -n"
						      : "raise sysctl fs.file-max");
	if (errnum == ENOSYS || paranoid == -100)
		return mt_error_hint(err, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	err->kind = MT_ERR_PERMISSION;
	if (paranoid > 2)
		return mt_error_hint(
			err,
			"perf_event_paranoid is %ld: run as root, give mtrec CAP_PERFMON, or have "
			"root run: sysctl kernel.perf_event_paranoid=2",
			paranoid);
	return mt_error_hint(
		err, "a seccomp filter (a container's?) or a security module refuses it: allow "
		     "perf_event_open, or run mtrec on the host");
}

/* Probes what does not depend on an attr: perf_event_open itself, a flag and an ioctl. */
static struct mt_error *probe_base(struct mt_perf_features *features)
{
	struct perf_event_attr attr = base_attr();
	uint64_t id;
	int fd;

	features->cloexec = true;
	fd = mt_perf_open(&attr, 0, -1, features);
	if (fd < 0) {
		features->cloexec = false; /* 3.10 refuses the flag with EINVAL */
		fd = mt_perf_open(&attr, 0, -1, features);
	}
	if (fd < 0)
		return no_perf_events(errno);
	features->ioc_id = !ioctl(fd, PERF_EVENT_IOC_ID, &id);
	close(fd);
	return NULL;
}

/* Probes each row alone, then drops rows, newest first, until the others open together. */
static void step_down(struct mt_perf_features *features)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		struct perf_event_attr attr = base_attr();

		if (!rows[i].ask)
			continue;
		rows[i].ask(&attr);
		*feature_of(features, &rows[i]) = mt_perf_opens(&attr, 0, -1, features);
	}
	for (size_t i = 0; i < ROW_COUNT && !opens_with(features); i++) {
		if (rows[i].ask)
			*feature_of(features, &rows[i]) = false;
	}
}

/* Probes whether groups can be read in inherited events, and reads the maximum rate. */
static void probe_alongside(struct mt_perf_features *features)
{
	struct perf_event_attr attr = base_attr();

	attr.inherit = 1;
	attr.sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	features->inherited_reads = mt_perf_opens(&attr, 0, -1, features);
	features->max_rate = (uint64_t)mt_read_number(MAX_RATE_FILE, 0);
}

struct mt_error *mt_features_probe(struct mt_perf_features *out)
{
	struct mt_perf_features features = {0};
	struct mt_error *err = probe_base(&features);

	if (err)
		return err;
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (rows[i].ask)
			*feature_of(&features, &rows[i]) = true;
	}
	if (!opens_with(&features))
		step_down(&features);
	probe_alongside(&features);
	*out = features;
	return NULL;
}
