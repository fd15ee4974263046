/*
 * The perf_event_open system call, the probing of its features, and its refusals in plain words.
 */
#include "record/perf_event.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "record/procfs.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

int mt_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
		 const struct mt_perf_features *features)
{
	unsigned long flags = features->cloexec ? PERF_FLAG_FD_CLOEXEC : 0;

	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, flags);
}

static bool opens(const struct perf_event_attr *attr, const struct mt_perf_features *features)
{
	int fd = mt_perf_open(attr, 0, -1, features);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* An event that any user may open on any kernel: counts nothing of ours, disabled. */
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

/* One row a feature: how to ask for it in an attr that opens without, and where the answer goes. */
struct feature_row {
	size_t offset; /* in struct mt_perf_features */
	void (*ask)(struct perf_event_attr *attr);
};

static void ask_identifier(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
}

static void ask_mmap2(struct perf_event_attr *attr)
{
	attr->mmap = attr->mmap2 = 1;
}

static void ask_comm_exec(struct perf_event_attr *attr)
{
	attr->comm = attr->comm_exec = 1;
}

static void ask_clockid(struct perf_event_attr *attr)
{
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

static void ask_dummy(struct perf_event_attr *attr)
{
	attr->config = PERF_COUNT_SW_DUMMY;
}

static void ask_format_lost(struct perf_event_attr *attr)
{
	attr->read_format |= PERF_FORMAT_LOST;
}

static void ask_kernel_frames(struct perf_event_attr *attr)
{
	attr->exclude_kernel = 0;
}

static const struct feature_row feature_rows[] = {
	{offsetof(struct mt_perf_features, identifier), ask_identifier},
	{offsetof(struct mt_perf_features, mmap2), ask_mmap2},
	{offsetof(struct mt_perf_features, comm_exec), ask_comm_exec},
	{offsetof(struct mt_perf_features, clockid), ask_clockid},
	{offsetof(struct mt_perf_features, dummy), ask_dummy},
	{offsetof(struct mt_perf_features, format_lost), ask_format_lost},
	{offsetof(struct mt_perf_features, kernel_frames), ask_kernel_frames},
};

/* Why even the plainest event of our own is refused. */
static struct mt_error *no_perf_events(int errnum)
{
	struct mt_error *err = mt_error_os(errnum, "cannot record: perf_event_open");
	long paranoid = mt_read_number("/proc/sys/kernel/perf_event_paranoid", -100);

	if (errnum == ENOSYS || paranoid == -100)
		return mt_error_hint(err, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	err->kind = MT_ERR_PERMISSION;
	if (paranoid > 2)
		return mt_error_hint(
			err,
			"perf_event_paranoid is %ld: run as root, give mtrec CAP_PERFMON, or have "
			"root "
			"run: sysctl kernel.perf_event_paranoid=2",
			paranoid);
	return mt_error_hint(
		err, "a seccomp filter (a container's?) or a security module refuses it: allow "
		     "perf_event_open, or run mtrec on the host");
}

struct mt_error *mt_perf_probe(struct mt_perf_features *out)
{
	struct mt_perf_features features = {.cloexec = true};
	struct perf_event_attr attr = base_attr();

	if (!opens(&attr, &features)) {
		features.cloexec = false; /* 3.10 answers EINVAL to the flag */
		if (!opens(&attr, &features))
			return no_perf_events(errno);
	}
	for (size_t i = 0; i < sizeof(feature_rows) / sizeof(feature_rows[0]); i++) {
		attr = base_attr();
		feature_rows[i].ask(&attr);
		*(bool *)((char *)&features + feature_rows[i].offset) = opens(&attr, &features);
	}
	*out = features;
	return NULL;
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
		"the target belongs to another user, or perf_event_paranoid (%ld) is above 2: run "
		"as root "
		"or as the target's user",
		paranoid);
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
		if (attr->type != PERF_TYPE_HARDWARE)
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
