/* Reads and raises resource limits; computes the mlock budget of rings; checks capabilities. */
#include "record/open/limits.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "formats/base/cleanup.h"
#include "record/proc/procfs.h"

#define NR_OPEN "/proc/sys/fs/nr_open"
#define MLOCK_KB "/proc/sys/kernel/perf_event_mlock_kb"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

int mt_limits_capable(int capability)
{
	MT_CLEANUP_FREE char *status = mt_read_text("/proc/self/status", NULL);
	const char *line = status ? mt_find_line(status, "CapEff") : NULL;

	return line && strtoull(line, NULL, 16) >> capability & 1;
}

uint64_t mt_limits_raise_files(void)
{
	long most = mt_read_number(NR_OPEN, 0);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (most > 0 && limit.rlim_max < (rlim_t)most) {
		struct rlimit raised = {(rlim_t)most, (rlim_t)most};

		if (!setrlimit(RLIMIT_NOFILE, &raised))
			return (uint64_t)most;
	}
	if (limit.rlim_cur < limit.rlim_max) {
		struct rlimit raised = {limit.rlim_max, limit.rlim_max};

		if (!setrlimit(RLIMIT_NOFILE, &raised))
			return limit.rlim_max;
	}
	return limit.rlim_cur;
}

uint64_t mt_limits_files(void)
{
	long most = mt_read_number(NR_OPEN, 0);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return most > 0 && limit.rlim_max < (rlim_t)most && mt_limits_capable(CAP_SYS_RESOURCE)
		       ? (uint64_t)most
		       : limit.rlim_max;
}

/* Returns RLIMIT_MEMLOCK in KiB; -1: unlimited. */
static long memlock_kib(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY
		       ? -1
		       : (long)(limit.rlim_cur >> 10);
}

uint64_t mt_limits_ring_bytes(size_t cpus)
{
	long kib = memlock_kib();

	if (kib < 0 || mt_limits_capable(CAP_IPC_LOCK) || mt_read_number(PARANOID, 2) < 0)
		return UINT64_MAX;
	return ((uint64_t)mt_read_number(MLOCK_KB, 0) * cpus + (uint64_t)kib) << 10;
}

char *mt_limits_ring_fix(size_t bytes_a_cpu, size_t cpus)
{
	size_t kib = (bytes_a_cpu + 1023) >> 10;
	long each = mt_read_number(MLOCK_KB, 0);
	uint64_t alongside = each < 0 || (uint64_t)each >= kib ? 0 : (kib - (uint64_t)each) * cpus;
	char *text;

	if (asprintf(&text,
		     "as root: sysctl kernel.perf_event_mlock_kb=%zu (it is %ld), or: ulimit -l "
		     "%llu (it is %ld)",
		     kib, each, (unsigned long long)alongside, memlock_kib()) < 0)
		return NULL;
	return text;
}
