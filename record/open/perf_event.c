/* Calls perf_event_open and explains its errors. */
#include "record/open/perf_event.h"

#include <errno.h>
#include <sys/syscall.h>
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
