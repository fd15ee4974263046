/* The table of attribute features, and the probing of its rows. */
#include "record/open/features.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "record/open/perf_event.h"
#include "record/proc/procfs.h"

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
	 .cost = "files of new mappings are told by path, not by inode",
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
	 .cost = "read() tells the id too",
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

/* An event that any user may open on any kernel. It is disabled and excludes the kernel. */
static struct perf_event_attr base_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.disabled = 1,
		.exclude_kernel = 1,
		.sample_id_all = 1,
	};
}

static bool opens(const struct perf_event_attr *attr, const struct mt_perf_features *features)
{
	int fd = mt_perf_open(attr, 0, -1, features);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Opens an event with all features together; a kernel may refuse a combination of features. */
static bool opens_with(const struct mt_perf_features *features)
{
	struct perf_event_attr attr = base_attr();

	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (rows[i].ask && mt_feature_has(features, &rows[i]))
			rows[i].ask(&attr);
	}
	return opens(&attr, features);
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
		*feature_of(features, &rows[i]) = opens(&attr, features);
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
	features->inherited_reads = opens(&attr, features);
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
