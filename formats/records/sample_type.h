/*
 * The kernel's constants for the fields of a sample (enum perf_event_sample_format and related
 * ones), independent of the build host's headers.
 */
#ifndef MT_FORMATS_RECORDS_SAMPLE_TYPE_H
#define MT_FORMATS_RECORDS_SAMPLE_TYPE_H

enum mt_sample_type { /* bits of attr->sample_type */
	MT_SAMPLE_IP = 1u << 0,
	MT_SAMPLE_TID = 1u << 1,
	MT_SAMPLE_TIME = 1u << 2,
	MT_SAMPLE_ADDR = 1u << 3,
	MT_SAMPLE_READ = 1u << 4,
	MT_SAMPLE_CALLCHAIN = 1u << 5,
	MT_SAMPLE_ID = 1u << 6,
	MT_SAMPLE_CPU = 1u << 7,
	MT_SAMPLE_PERIOD = 1u << 8,
	MT_SAMPLE_STREAM_ID = 1u << 9,
	MT_SAMPLE_RAW = 1u << 10,
	MT_SAMPLE_BRANCH_STACK = 1u << 11,
	MT_SAMPLE_REGS_USER = 1u << 12,
	MT_SAMPLE_STACK_USER = 1u << 13,
	MT_SAMPLE_WEIGHT = 1u << 14,
	MT_SAMPLE_DATA_SRC = 1u << 15,
	MT_SAMPLE_IDENTIFIER = 1u << 16,
	MT_SAMPLE_TRANSACTION = 1u << 17,
	MT_SAMPLE_REGS_INTR = 1u << 18,
	MT_SAMPLE_PHYS_ADDR = 1u << 19,
	MT_SAMPLE_AUX = 1u << 20,
	MT_SAMPLE_CGROUP = 1u << 21,
	MT_SAMPLE_DATA_PAGE_SIZE = 1u << 22,
	MT_SAMPLE_CODE_PAGE_SIZE = 1u << 23,
	MT_SAMPLE_WEIGHT_STRUCT = 1u << 24,

	/* Fields of 8 bytes at the start of a sample; fields of the sample_id_all trailer. */
	MT_SAMPLE_FIXED = MT_SAMPLE_IDENTIFIER | MT_SAMPLE_IP | MT_SAMPLE_TID | MT_SAMPLE_TIME |
			  MT_SAMPLE_ADDR | MT_SAMPLE_ID | MT_SAMPLE_STREAM_ID | MT_SAMPLE_CPU |
			  MT_SAMPLE_PERIOD,
	MT_SAMPLE_TRAILER = MT_SAMPLE_TID | MT_SAMPLE_TIME | MT_SAMPLE_ID | MT_SAMPLE_STREAM_ID |
			    MT_SAMPLE_CPU | MT_SAMPLE_IDENTIFIER,
};

enum mt_read_format { /* bits of attr->read_format */
	MT_FORMAT_ENABLED = 1u << 0,
	MT_FORMAT_RUNNING = 1u << 1,
	MT_FORMAT_ID = 1u << 2,
	MT_FORMAT_GROUP = 1u << 3,
	MT_FORMAT_LOST = 1u << 4,
};

enum mt_branch_sample_type { /* bits of attr->branch_sample_type */
	MT_BRANCH_CALL_STACK = 1u << 11,
	MT_BRANCH_HW_INDEX = 1u << 17,
	MT_BRANCH_COUNTERS = 1u << 19,
};

enum mt_kernel_misc { /* bits of perf_event_header.misc; their meaning depends on the record type */
	MT_MISC_CPUMODE_MASK = 7,
	MT_MISC_MMAP_DATA = 1u << 13,
	MT_MISC_COMM_EXEC = 1u << 13,
	MT_MISC_SWITCH_OUT = 1u << 13,
	MT_MISC_MMAP_BUILD_ID = 1u << 14,
};

#define MT_KERNEL_HEADER_SIZE 8

#endif
