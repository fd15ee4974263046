/*
 * Decodes the kernel's records by their attr: samples and all other types. Results are views into
 * the record; nothing is copied. Serves recordings and perf.data alike.
 */
#ifndef MT_FORMATS_RECORDS_SAMPLE_H
#define MT_FORMATS_RECORDS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_attr;

/* The PERF_RECORD_* types that this project reads, by the kernel's numbers. */
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

enum mt_cpumode { /* perf_event_header.misc & 7 */
	MT_CPUMODE_UNKNOWN = 0,
	MT_CPUMODE_KERNEL = 1,
	MT_CPUMODE_USER = 2,
	MT_CPUMODE_HYPERVISOR = 3,
	MT_CPUMODE_GUEST_KERNEL = 4,
	MT_CPUMODE_GUEST_USER = 5,
};

/* Context markers in a callchain (PERF_CONTEXT_*): all values >= MT_CONTEXT_MAX. */
#define MT_CONTEXT_KERNEL ((uint64_t)-128)
#define MT_CONTEXT_USER ((uint64_t)-512)
#define MT_CONTEXT_MAX ((uint64_t)-4095)

enum mt_coding {
	MT_CODING_PLAIN = 0,
	MT_CODING_IMAGE = 1,  /* stack_decoder.h */
	MT_CODING_PACKED = 2, /* not in SAMPLE records: for the dump of a PACKED record */
};

/* The codes in a FRAMES record are below these bounds; unwind/unwind.h has their names. */
#define MT_UNWOUND_SOURCES 9u
#define MT_UNWOUND_ENDS 17u
#define MT_UNWOUND_END_UNREPORTED 16u
#define MT_UNWOUND_RETURN 0x80u /* bit of a source: pc is a return address */
#define MT_UNWOUND_MAX 65536u	/* most frames */

/* The user stack of a FRAMES record, innermost frame first. */
struct mt_unwound {
	const uint64_t *pcs; /* NULL: not unwound yet */
	const uint8_t *sources;
	uint32_t count;
	uint16_t end;
	uint16_t walked_end; /* end of the stack before it was joined with others */
	/*
	 * Frame positions on the stack, for joining; steps NULL: unknown. Read with
	 * mt_unwound_sp().
	 */
	uint64_t sp;	   /* stack pointer of the innermost frame */
	uint64_t boundary; /* as in struct mt_stack */
	/*
	 * a little-endian u32 per frame: its stack pointer minus that of the inner frame, or
	 * MT_UNWOUND_NO_STEP
	 */
	const uint8_t *steps;
};

/* A step that is unknown, as are all steps after it. */
#define MT_UNWOUND_NO_STEP UINT32_MAX

/* A decoded KERNEL, SAMPLE, PACKED or FRAMES record. */
struct mt_kernel_bytes {
	uint32_t event;
	const uint8_t *kernel; /* 8-byte aligned within the payload */
	uint32_t kernel_size;
	/* SAMPLE and PACKED; 0 and NULL for KERNEL. */
	uint32_t cut;
	uint32_t dump_asked;
	const uint8_t *dump;
	uint32_t dump_size;
	uint32_t coding;
	const uint8_t *coded; /* SAMPLE: the stored dump; the dump itself if plain */
	uint32_t coded_size;
	/* FRAMES only; `cut` and `dump_asked` are as in a SAMPLE, or 0; `dump` is NULL. */
	struct mt_unwound unwound;
};

struct mt_branch {
	uint64_t from, to;
	uint64_t flags; /* as in perf_branch_entry: bit 0 mispredicted, bit 1 predicted, ... */
};

struct mt_sample {
	uint16_t misc;
	int32_t pid, tid; /* -1 if not sampled */
	uint32_t cpu;	  /* UINT32_MAX if not sampled */
	uint64_t time;	  /* 0 if not sampled, as for all fields below */
	uint64_t ip, addr, id, stream_id, period;
	uint64_t weight, data_source, transaction, phys_addr, cgroup, data_page_size,
		code_page_size;
	const uint8_t *read; /* the body of PERF_SAMPLE_READ, read_size bytes */
	size_t read_size;
	const uint64_t *chain; /* callchain, including context markers */
	size_t chain_count;
	const uint8_t *raw; /* PERF_SAMPLE_RAW: the tracepoint's fields */
	size_t raw_size;
	const struct mt_branch *branches;
	size_t branch_count;
	bool has_branches; /* branch records were sampled, possibly none */
	uint64_t user_abi; /* 0 none, 1 32-bit, 2 64-bit */
	/* one for each bit of attr->sample_regs_user; valid unless user_abi is 0 */
	const uint64_t *user_regs;
	const uint8_t *dump;	   /* user stack bytes; NULL if not available */
	size_t dump_size;	   /* valid bytes */
	size_t dump_was;	   /* valid bytes when sampled, even if `dump` is NULL */
	size_t dump_asked;	   /* requested bytes; 0: no dump in this sample */
	struct mt_unwound unwound; /* FRAMES: the unwound user stack instead of the dump */
};

/*
 * The dump of a sample whose kernel bytes have the dump cut out. A NULL pointer means a record that
 * still has its dump.
 */
struct mt_dump_apart {
	uint32_t cut; /* offset in the record where `asked` bytes were cut out */
	uint32_t asked;
	const uint8_t *bytes; /* NULL: not available */
	uint32_t size;
};

/*
 * Decodes a PERF_RECORD_SAMPLE: `record` points to its perf_event_header, is 8-byte aligned and has
 * `size` bytes. False, with *out undefined, if the fields do not fit the bytes. Also false for a
 * callchain, register set or branch stack that raw data leaves unaligned, which no kernel writes.
 * Bytes after the last known field are ignored.
 */
bool mt_sample_decode(const struct mt_attr *attr, const uint8_t *record, size_t size,
		      const struct mt_dump_apart *apart, struct mt_sample *out);

/*
 * Decodes the sample in a KERNEL, SAMPLE, PACKED or FRAMES record. Also false for a kernel record
 * of another type.
 */
bool mt_sample_decode_bytes(const struct mt_attr *attr, const struct mt_kernel_bytes *bytes,
			    struct mt_sample *out);

/* One event's count in a sample with PERF_SAMPLE_READ. */
struct mt_read_value {
	uint64_t value;
	uint64_t id; /* the kernel's event id; 0 unless PERF_FORMAT_ID */
};

/* Number of events counted by the sample, the sampled event first; 0 without PERF_SAMPLE_READ. */
size_t mt_sample_read_count(const struct mt_attr *attr, const struct mt_sample *sample);

/* The i-th count; false past the last one. */
bool mt_sample_read_get(const struct mt_attr *attr, const struct mt_sample *sample, size_t i,
			struct mt_read_value *out);

/*
 * Finds the dump to cut out of a sample record: the offset of the user stack's u64 `size` field
 * from the perf_event_header. 0 if the record has no such field, size is 0 or the bytes are
 * inconsistent. For a nonzero result, size and dyn_size lie inside the record, size is a multiple
 * of 8 and dyn_size is at most size. Decodes only the fields before that one, because this is the
 * recorder's hot path.
 */
size_t mt_sample_stack_offset(const struct mt_attr *attr, const uint8_t *record, size_t size);

/* Any kernel record except a sample. */
struct mt_kernel_record {
	uint32_t type; /* enum mt_kernel_record_type, or an unknown type */
	uint16_t misc;
	/*
	 * the task it describes: MMAP, MMAP2, COMM, EXIT, FORK, READ, ITRACE_START, NAMESPACES,
	 * SWITCH_CPU_WIDE; else -1
	 */
	int32_t pid, tid;
	int32_t ppid, ptid;		/* FORK, EXIT */
	uint64_t start, length, offset; /* MMAP, MMAP2; KSYMBOL: start and length */
	uint32_t prot, flags;		/* MMAP2; MMAP: PROT_EXEC or PROT_READ from misc */
	uint32_t major, minor;		/* MMAP2 without a build id */
	uint64_t inode, inode_generation;
	const uint8_t *build_id; /* MMAP2 with a build id */
	size_t build_id_size;
	/*
	 * NUL-terminated. MMAP, MMAP2: file; COMM: comm; KSYMBOL: symbol; CGROUP: path; else NULL
	 */
	const char *name;
	uint64_t cgroup;	/* CGROUP */
	bool exec;		/* COMM: due to exec (PERF_RECORD_MISC_COMM_EXEC) */
	uint64_t lost, lost_id; /* LOST, LOST_SAMPLES */
	uint64_t event_time;	/* FORK, EXIT, THROTTLE: the time field of the body */
	/* The sample_id_all trailer; fields it lacks are -1, 0 or UINT32_MAX. */
	int32_t id_pid, id_tid;
	uint64_t time, id;
	uint32_t cpu;
};

/*
 * Decodes any kernel record except a sample; if the type is unknown, only the trailer. False if the
 * bytes are inconsistent.
 */
bool mt_kernel_record_decode(const struct mt_attr *attr, const uint8_t *record, size_t size,
			     struct mt_kernel_record *out);

#endif
