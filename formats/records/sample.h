/*
 * The kernel's records decoded by their attr: samples and everything beside them. Views into the
 * record's bytes; nothing is copied. Serves recordings and perf.data alike.
 */
#ifndef MT_FORMATS_RECORDS_SAMPLE_H
#define MT_FORMATS_RECORDS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records/record.h"
#include "formats/stacks/sample_record.h"

struct mt_attr;

/* PERF_RECORD_* types this project reads, by their kernel numbers. */
enum mt_kernel_record_type {
	MT_KERNEL_MMAP = 1,
	MT_KERNEL_LOST = 2,
	MT_KERNEL_COMM = 3,
	MT_KERNEL_EXIT = 4,
	MT_KERNEL_THROTTLE = 5,
	MT_KERNEL_UNTHROTTLE = 6,
	MT_KERNEL_FORK = 7,
	MT_KERNEL_READ = 8,
	MT_KERNEL_SAMPLE = 9,
	MT_KERNEL_MMAP2 = 10,
	MT_KERNEL_AUX = 11,
	MT_KERNEL_ITRACE_START = 12,
	MT_KERNEL_LOST_SAMPLES = 13,
	MT_KERNEL_SWITCH = 14,
	MT_KERNEL_SWITCH_CPU_WIDE = 15,
	MT_KERNEL_NAMESPACES = 16,
	MT_KERNEL_KSYMBOL = 17,
	MT_KERNEL_BPF_EVENT = 18,
	MT_KERNEL_CGROUP = 19,
	MT_KERNEL_TEXT_POKE = 20,
	MT_KERNEL_AUX_OUTPUT_HW_ID = 21,
};

enum mt_cpumode { /* misc & 7 */
	MT_CPUMODE_UNKNOWN = 0,
	MT_CPUMODE_KERNEL = 1,
	MT_CPUMODE_USER = 2,
	MT_CPUMODE_HYPERVISOR = 3,
	MT_CPUMODE_GUEST_KERNEL = 4,
	MT_CPUMODE_GUEST_USER = 5,
};

/* Context markers inside a callchain (PERF_CONTEXT_*); every value >= MT_CONTEXT_MAX is one. */
#define MT_CONTEXT_KERNEL ((uint64_t)-128)
#define MT_CONTEXT_USER ((uint64_t)-512)
#define MT_CONTEXT_MAX ((uint64_t)-4095)

struct mt_branch {
	uint64_t from, to;
	uint64_t flags; /* bit 0 mispredicted, 1 predicted, ... as in perf_branch_entry */
};

struct mt_sample {
	uint16_t misc;
	int32_t pid, tid; /* -1 where not sampled */
	uint32_t cpu;	  /* UINT32_MAX where not sampled */
	uint64_t time;	  /* 0 where not sampled, and so below */
	uint64_t ip, addr, id, stream_id, period;
	uint64_t weight, data_source, transaction, phys_addr, cgroup, data_page_size,
		code_page_size;
	const uint8_t *read; /* PERF_SAMPLE_READ's body as it stands; read_size bytes */
	size_t read_size;
	const uint64_t *chain; /* the callchain with its context markers */
	size_t chain_count;
	const uint8_t *raw; /* PERF_SAMPLE_RAW: a tracepoint's fields */
	size_t raw_size;
	const struct mt_branch *branches;
	size_t branch_count;
	uint64_t branch_hw_index;
	bool has_branches; /* sampled, maybe 0 of them */
	uint64_t user_abi; /* 0 none, 1 32-bit, 2 64-bit */
	const uint64_t
		*user_regs; /* one for each bit of attr->sample_regs_user, when user_abi is not 0 */
	const uint8_t *dump;	   /* the user stack */
	size_t dump_size;	   /* valid bytes */
	size_t dump_was;	   /* the same, where the bytes may be gone */
	size_t dump_asked;	   /* requested bytes; 0: no dump in this sample */
	struct mt_unwound unwound; /* of a FRAMES record: the user stack, in the dump's place */
};

/*
 * The dump of a SAMPLE record stands apart from the kernel's bytes; NULL pointer for records that
 * are whole.
 */
struct mt_dump_apart {
	uint32_t cut; /* offset in the record where `asked` bytes were taken out */
	uint32_t asked;
	const uint8_t *bytes; /* NULL: gone */
	uint32_t size;
};

/*
 * Decodes a PERF_RECORD_SAMPLE (perf_event_header first, 8-byte aligned, `size` bytes at hand).
 * False where its fields do not fit its bytes, with *out undefined. Bytes behind the last known
 * field are ignored. A chain, registers or branches that a raw part of odd size has put at an
 * unaligned place count as not fitting: no kernel writes that.
 */
bool mt_sample_decode(const struct mt_attr *attr, const uint8_t *record, size_t size,
		      const struct mt_dump_apart *apart, struct mt_sample *out);

/*
 * The same for a record of ours that holds a sample, whichever way. False also for one that holds
 * something else of the kernel's.
 */
bool mt_sample_decode_bytes(const struct mt_attr *attr, const struct mt_kernel_bytes *bytes,
			    struct mt_sample *out);

/* One event's count in a sample that has PERF_SAMPLE_READ. */
struct mt_read_value {
	uint64_t value;
	uint64_t id; /* the kernel's; 0 where it was not asked for */
};

/* How many events a sample counted, the sampled one first; 0 where it has no READ. */
size_t mt_sample_read_count(const struct mt_attr *attr, const struct mt_sample *sample);

/* The i-th of them; false where there are fewer. */
bool mt_sample_read_get(const struct mt_attr *attr, const struct mt_sample *sample, size_t i,
			struct mt_read_value *out);

/*
 * Where the user stack's u64 `size` field stands in a sample record (offset from its
 * perf_event_header), for cutting the dump out; 0 where there is no dump to cut: no such field,
 * size 0, or bytes that do not add up. Where it is not 0, size and dyn_size lie inside the record,
 * size is a multiple of 8 and dyn_size at most size. Walks the fields before it only; the
 * recorder's hot path.
 */
size_t mt_sample_stack_offset(const struct mt_attr *attr, const uint8_t *record, size_t size);

/* A record that is no sample. name/comm is NUL-terminated inside the record. */
struct mt_kernel_record {
	uint32_t type; /* enum mt_kernel_record_type, or one not known here */
	uint16_t misc;
	int32_t pid, tid;   /* MMAP, MMAP2, COMM, EXIT, FORK, READ, ITRACE_START, NAMESPACES,
			       SWITCH_CPU_WIDE: the task it tells of; else -1 */
	int32_t ppid, ptid; /* FORK, EXIT */
	uint64_t start, length, offset; /* MMAP, MMAP2; KSYMBOL: start and length */
	uint32_t prot, flags;		/* MMAP2; MMAP: PROT_EXEC or PROT_READ from misc */
	uint32_t major, minor;		/* MMAP2 without a build id */
	uint64_t inode, inode_generation;
	const uint8_t *build_id; /* MMAP2 with one */
	size_t build_id_size;
	const char
		*name; /* MMAP, MMAP2: file; COMM: comm; KSYMBOL: symbol; CGROUP: path; else NULL */
	uint64_t cgroup;	/* CGROUP */
	bool exec;		/* COMM: because of exec (PERF_RECORD_MISC_COMM_EXEC) */
	uint64_t lost, lost_id; /* LOST, LOST_SAMPLES */
	uint64_t event_time;	/* FORK, EXIT, THROTTLE: the record's own time field */
	/* from the sample_id trailer (sample_id_all); -1, 0 or UINT32_MAX where absent: */
	int32_t id_pid, id_tid;
	uint64_t time, id;
	uint32_t cpu;
};

/*
 * Decodes any other record. False where its bytes do not add up; an unknown type is decoded as far
 * as its trailer.
 */
bool mt_kernel_record_decode(const struct mt_attr *attr, const uint8_t *record, size_t size,
			     struct mt_kernel_record *out);

#endif
