/*
 * Samples with branch records on their way from a program that is stepped to a recorder that takes
 * them for a PMU's (tests/workloads/branch_pmu.c): a file that both map. The samples stand one
 * behind the other.
 */
#ifndef MT_TESTS_ORACLE_BRANCH_FEED_H
#define MT_TESTS_ORACLE_BRANCH_FEED_H

#include <stdatomic.h>
#include <stdint.h>

#define BRANCH_FEED_SIZE ((size_t)256 << 20) /* of the file, which has holes */
#define BRANCH_FEED_REGISTERS 24	     /* by PERF_REG_X86_* */

struct branch_feed {
	_Atomic uint32_t recording;	     /* the recorder's events are on */
	_Atomic uint64_t produced, consumed; /* bytes of samples */
	uint8_t samples[];
};

struct branch_feed_sample {
	uint64_t size; /* with what stands behind: the branches, then the dump; a multiple of 8 */
	uint32_t pid, branch_count;
	uint64_t ip, index, dump_size;
	uint64_t registers[BRANCH_FEED_REGISTERS];
};

#endif
