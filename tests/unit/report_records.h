/*
 * Recordings for tests of the reporter: records of a few tasks as mtrec writes them. Their stacks
 * come from the kernel's chain, so neither images nor dumps are needed. report_records_kallsyms()
 * names kernel addresses.
 *
 *	struct mt_builder b;
 *
 *	report_records_begin(&b);			HEAD: info, clock, the events below
 *	report_records_fork(&b, 2000, 101, 101, 1);	all into one DATA chunk
 *	report_records_sample(&b, &(struct report_sample){.time = 2100, .pid = 101, .tid = 101});
 *	report_records_end(&b);
 */
#ifndef MT_TESTS_UNIT_REPORT_RECORDS_H
#define MT_TESTS_UNIT_REPORT_RECORDS_H

#include "formats/records/sample.h"
#include "tests/unit/kernel_bytes.h"
#include "tests/unit/mt_builder.h"

enum {
	EVENT_DUMMY,
	EVENT_FAULTS,
	EVENT_BRK,
	EVENT_BRK_ENTER,
	VARIANT /* of EVENT_FAULTS; a test describes it */
};

/* IP, TID, TIME, ADDR, CPU, PERIOD, CALLCHAIN */
#define REPORT_SAMPLE_TYPE (1u | 2u | 4u | 8u | 1u << 5 | 1u << 7 | 1u << 8)
#define REPORT_START 1000000000ull

struct report_sample {
	uint64_t time; /* relative to REPORT_START */
	int pid, tid;
	uint32_t event; /* 0 means EVENT_FAULTS */
	uint32_t cpu;
	uint64_t period;	     /* 0 means 1 */
	uint64_t kernel[4], user[4]; /* innermost first; ends with 0 */
};

/* struct perf_event_attr, version 1 (72 bytes), with sample_id_all set. */
static inline void report_records_event(struct mt_builder *b, uint32_t index, uint32_t role,
					const char *name, const char *alias)
{
	uint8_t attr[72] = {0};

	mt_put_le32(attr, 1);
	mt_put_le32(attr + 4, sizeof(attr));
	mt_put_le64(attr + 16, 1);
	mt_put_le64(attr + 24, REPORT_SAMPLE_TYPE);
	mt_put_le64(attr + 40, 1ull << 18);
	mt_event_put(&b->block, &(struct mt_event_record){
					.index = index,
					.role = role,
					.pair = MT_EVENT_NONE,
					.name = {name, strlen(name)},
					.alias = {alias, strlen(alias)},
					.unit = {"calls", 5},
					.attr = {(const char *)attr, sizeof(attr)},
				});
}

static inline void report_records_info(struct mt_builder *b, const char *key, const char *value)
{
	mt_info_put(&b->block,
		    &(struct mt_info_record){{key, strlen(key)}, {value, strlen(value)}});
}

static inline void report_records_begin_again(struct mt_builder *b)
{
	mt_builder_head_begin(b);
	report_records_info(b, "host", "testhost");
	report_records_info(b, "boot-id", "another boot");
	mt_clock_put(&b->block, &(struct mt_clock_record){.recording = REPORT_START,
							  .realtime = 1700000000000000000});
	report_records_event(b, EVENT_DUMMY, MT_ROLE_SIDEBAND, "dummy", "dummy");
	report_records_event(b, EVENT_FAULTS, MT_ROLE_SAMPLE, "page-faults", "page-faults");
	report_records_event(b, EVENT_BRK, MT_ROLE_SAMPLE, "syscalls:sys_exit_brk", "brk");
	report_records_event(b, EVENT_BRK_ENTER, MT_ROLE_MARK, "syscalls:sys_enter_brk", "brk");
	mt_builder_add(b, MT_CODEC_STORED);
	mt_builder_begin(b, MT_CHUNK_DATA, 0);
}

static inline void report_records_begin(struct mt_builder *b)
{
	mt_builder_init(b);
	report_records_begin_again(b);
}

/* Adds a record with the trailer of sample_id_all: TID, TIME, CPU. */
static inline void report_records_put(struct mt_builder *b, uint64_t time, int pid, int tid,
				      struct kernel_bytes *k)
{
	put32(k, (uint32_t)pid);
	put32(k, (uint32_t)tid);
	put64(k, REPORT_START + time);
	put64(k, 0);
	kernel_end(k);
	mt_kernel_put(&b->block, REPORT_START + time, EVENT_DUMMY, k->bytes, k->size);
}

static inline void report_records_fork(struct mt_builder *b, uint64_t time, int pid, int tid,
				       int ppid)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_FORK, 0);

	put32(&k, (uint32_t)pid);
	put32(&k, (uint32_t)ppid);
	put32(&k, (uint32_t)tid);
	put32(&k, (uint32_t)ppid);
	put64(&k, REPORT_START + time);
	report_records_put(b, time, ppid, ppid, &k);
}

/* The only thread of a process ends. */
static inline void report_records_exit(struct mt_builder *b, uint64_t time, int pid)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_EXIT, 0);

	put32(&k, (uint32_t)pid);
	put32(&k, (uint32_t)1);
	put32(&k, (uint32_t)pid);
	put32(&k, (uint32_t)1);
	put64(&k, REPORT_START + time);
	report_records_put(b, time, pid, pid, &k);
}

static inline void report_records_comm(struct mt_builder *b, uint64_t time, int pid, int tid,
				       const char *comm, bool exec)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_COMM, exec ? 1u << 13 : 0);

	put32(&k, (uint32_t)pid);
	put32(&k, (uint32_t)tid);
	put_name(&k, comm);
	report_records_put(b, time, pid, tid, &k);
}

/* Adds an executable mapping of a file, or of "//anon". */
static inline void report_records_mmap(struct mt_builder *b, uint64_t time, int pid, uint64_t start,
				       uint64_t length, const char *path)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_MMAP2, MT_CPUMODE_USER);

	put32(&k, (uint32_t)pid);
	put32(&k, (uint32_t)pid);
	put64(&k, start);
	put64(&k, length);
	put64(&k, 0);
	put32(&k, 8);
	put32(&k, 1);
	put64(&k, 77);
	put64(&k, 0);
	put32(&k, 5);
	put32(&k, 2);
	put_name(&k, path);
	report_records_put(b, time, pid, pid, &k);
}

static inline size_t report_records_count(const uint64_t chain[4])
{
	size_t n = 0;

	while (n < 4 && chain[n])
		n++;
	return n;
}

static inline void report_records_sample(struct mt_builder *b, const struct report_sample *s)
{
	struct kernel_bytes k =
		kernel_begin(MT_KERNEL_SAMPLE, s->kernel[0] ? MT_CPUMODE_KERNEL : MT_CPUMODE_USER);
	size_t kernel = report_records_count(s->kernel), user = report_records_count(s->user);

	put64(&k, s->kernel[0] ? s->kernel[0] : s->user[0]);
	put32(&k, (uint32_t)s->pid);
	put32(&k, (uint32_t)s->tid);
	put64(&k, REPORT_START + s->time);
	put64(&k, 0);
	put32(&k, s->cpu);
	put32(&k, 0);
	put64(&k, s->period ? s->period : 1);
	put64(&k, kernel + user + (kernel > 0) + (user > 0));
	if (kernel)
		put64(&k, MT_CONTEXT_KERNEL);
	for (size_t i = 0; i < kernel; i++)
		put64(&k, s->kernel[i]);
	if (user)
		put64(&k, MT_CONTEXT_USER);
	for (size_t i = 0; i < user; i++)
		put64(&k, s->user[i]);
	kernel_end(&k);
	mt_kernel_put(&b->block, REPORT_START + s->time, s->event ? s->event : EVENT_FAULTS,
		      k.bytes, k.size);
}

static inline void report_records_end(struct mt_builder *b)
{
	mt_builder_add(b, MT_CODEC_ZSTD);
	mt_builder_begin(b, MT_CHUNK_END, 0);
	mt_end_put(&b->block, &(struct mt_end_record){.start = REPORT_START,
						      .end = REPORT_START + 10000000000ull,
						      .written = b->size});
	mt_builder_add(b, MT_CODEC_STORED);
}

/* Start of the kernel functions, of 256 bytes each, in the order of their names. */
#define REPORT_KERNEL 0xffffffff81000000ull
#define REPORT_K_FAULT (REPORT_KERNEL + 0x010)
#define REPORT_K_SYSCALL (REPORT_KERNEL + 0x110)
#define REPORT_K_BRK (REPORT_KERNEL + 0x210)

/* Writes a file with their names; `path` has room for 32 bytes. */
static inline const char *report_records_kallsyms(char *path)
{
	static const char text[] = "ffffffff81000000 T do_fault\n"
				   "ffffffff81000100 T do_syscall_64\n"
				   "ffffffff81000200 T do_brk\n"
				   "ffffffff81000300 T _etext\n";
	int fd;

	strcpy(path, "/tmp/mt-kallsyms-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)sizeof(text) - 1 || close(fd))
		abort();
	return path;
}

#endif
