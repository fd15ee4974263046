/* Limits of the host on files and locked memory, and commands that raise them. */
#ifndef MT_RECORD_OPEN_LIMITS_H
#define MT_RECORD_OPEN_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Raises the limit of open files: the soft limit to the hard limit and, with the privilege, both to
 * fs.nr_open. Returns the new limit.
 */
uint64_t mt_limits_raise_files(void);

/* Returns the limit that mt_limits_raise_files() would reach, and changes nothing. */
uint64_t mt_limits_files(void);

/* Returns how many bytes of ring buffers of all CPUs may be locked; UINT64_MAX: no limit. */
uint64_t mt_limits_ring_bytes(size_t cpus);

/*
 * Returns what would allow rings of bytes_a_cpu on each CPU, e.g. "sysctl
 * kernel.perf_event_mlock_kb=20488 (it is 516) or ulimit -l 40976 (it is 8192)". The caller frees
 * it; NULL out of memory.
 */
char *mt_limits_ring_fix(size_t bytes_a_cpu, size_t cpus);

/*
 * Returns true if the process has the capability (CAP_* of linux/capability.h) in its effective
 * set.
 */
int mt_limits_capable(int capability);

#endif
