/* What the host's limits leave us, and the exact words that would raise them. */
#ifndef MT_RECORD_OPEN_LIMITS_H
#define MT_RECORD_OPEN_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Raises the limit of open files: the soft one to the hard one, and where we may, both to
 * fs.nr_open. Gives the limit that holds now.
 */
uint64_t mt_limits_raise_files(void);

/* What raise_files() would reach; changes nothing. */
uint64_t mt_limits_files(void);

/* Ring memory that may be locked, over all CPUs; UINT64_MAX: as much as we like. */
uint64_t mt_limits_ring_bytes(size_t cpus);

/*
 * "sysctl kernel.perf_event_mlock_kb=20488 (it is 516) or ulimit -l 40976 (it is 8192)": what would
 * allow rings of so many bytes on each of so many CPUs. The caller's to free; NULL out of memory.
 */
char *mt_limits_ring_fix(size_t bytes_a_cpu, size_t cpus);

/* One of our effective capabilities, by its number (CAP_* of linux/capability.h). */
int mt_limits_capable(int capability);

#endif
