/*
 * A preloaded library that gives a recorder a PMU with branch records: hardware events open as the
 * kernel's dummy ones, and what a stepped program's processor would have recorded
 * (tests/oracle/branch_feed.h) is put into their ring as the kernel lays samples out. All else is
 * the kernel's: the ring, the identifiers, the records of what is mapped.
 *
 *	LD_PRELOAD=branch_pmu.so BRANCH_PMU_FEED=FILE mtrec -m 8M -e cycles:u -b -p PID
 *
 * BRANCH_PMU_TYPES=0: a kernel that does not say what kind a branch is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/oracle/branch_feed.h"

#define FILES 4096
#define RARE_RING ((size_t)4 << 20) /* larger ones are for samples */

/* What is known of a descriptor. */
static struct file {
	bool hardware;
	struct perf_event_attr attr;
	int cpu;    /* -1: any */
	int output; /* whose ring it writes to */
	struct perf_event_mmap_page *ring;
	size_t ring_size;
} files[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool feeding;

static void *next_of(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* ---- Feeding ---- */

struct record {
	uint8_t bytes[1 << 16];
	size_t size;
};

static void put(struct record *record, const void *bytes, size_t size)
{
	if (size > sizeof(record->bytes) - record->size)
		abort();
	memcpy(record->bytes + record->size, bytes, size);
	record->size += size;
}

static void put_u64(struct record *record, uint64_t value)
{
	put(record, &value, sizeof(value));
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put_fixed(struct record *record, uint64_t type, uint64_t id,
		      const struct branch_feed_sample *sample)
{
	const uint64_t task = (uint64_t)sample->pid << 32 | sample->pid;
	const struct {
		uint64_t bit, value;
	} fields[] = {
		{PERF_SAMPLE_IDENTIFIER, id}, {PERF_SAMPLE_IP, sample->ip},
		{PERF_SAMPLE_TID, task},      {PERF_SAMPLE_TIME, now()},
		{PERF_SAMPLE_ADDR, 0},	      {PERF_SAMPLE_ID, id},
		{PERF_SAMPLE_STREAM_ID, id},  {PERF_SAMPLE_CPU, 0},
		{PERF_SAMPLE_PERIOD, 1000},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (type & fields[i].bit)
			put_u64(record, fields[i].value);
	}
}

static void put_branches(struct record *record, const struct perf_event_attr *attr,
			 const struct branch_feed_sample *sample)
{
	put_u64(record, sample->branch_count);
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		put_u64(record, sample->index);
	put(record, sample + 1, sample->branch_count * sizeof(struct perf_branch_entry));
}

static void put_registers(struct record *record, const struct perf_event_attr *attr,
			  const struct branch_feed_sample *sample)
{
	put_u64(record, PERF_SAMPLE_REGS_ABI_64);
	for (size_t i = 0; i < BRANCH_FEED_REGISTERS; i++) {
		if (attr->sample_regs_user >> i & 1)
			put_u64(record, sample->registers[i]);
	}
}

static void put_dump(struct record *record, const struct perf_event_attr *attr,
		     const struct branch_feed_sample *sample)
{
	static const uint8_t zeros[1 << 16];
	size_t asked = attr->sample_stack_user,
	       n = sample->dump_size < asked ? sample->dump_size : asked;
	const uint8_t *dump = (const uint8_t *)(sample + 1) +
			      sample->branch_count * sizeof(struct perf_branch_entry);

	put_u64(record, asked);
	put(record, dump, n);
	put(record, zeros, asked - n);
	put_u64(record, n);
}

static void make_record(struct record *record, const struct perf_event_attr *attr, uint64_t id,
			const struct branch_feed_sample *sample)
{
	struct perf_event_header header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0};
	uint64_t type = attr->sample_type;

	record->size = 0;
	put(record, &header, sizeof(header));
	put_fixed(record, type, id, sample);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put_u64(record, 2);
		put_u64(record, PERF_CONTEXT_USER);
		put_u64(record, sample->ip);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(record, attr, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		put_registers(record, attr, sample);
	if (type & PERF_SAMPLE_STACK_USER)
		put_dump(record, attr, sample);
	header.size = (uint16_t)record->size;
	memcpy(record->bytes, &header, sizeof(header));
}

/* As the kernel does; waits for room rather than lose it. */
static void put_into_ring(const struct file *to, const struct record *record)
{
	struct perf_event_mmap_page *page = to->ring;
	uint64_t head = page->data_head;
	uint8_t *data = (uint8_t *)page + sysconf(_SC_PAGESIZE);

	while (head + record->size - __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE) >
	       to->ring_size)
		usleep(1000);
	for (size_t i = 0; i < record->size; i++)
		data[(head + i) % to->ring_size] = record->bytes[i];
	__atomic_store_n(&page->data_head, head + record->size, __ATOMIC_RELEASE);
}

struct job {
	struct branch_feed *feed;
	struct perf_event_attr attr;
	struct file ring;
	int cpu;
	uint64_t id;
};

/*
 * On the ring's CPU, before all who drain it: nobody comes between a sample's time and its place.
 */
static void be_a_processor(int cpu)
{
	const struct sched_param first = {.sched_priority = 50};
	cpu_set_t set;

	if (cpu >= 0 && cpu < CPU_SETSIZE) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		(void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	}
	(void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
}

static void *feed_main(void *argument)
{
	static struct record record;
	struct job *job = argument;
	struct branch_feed *feed = job->feed;
	uint64_t at = 0;

	be_a_processor(job->cpu);
	atomic_store(&feed->recording, 1);
	for (;;) {
		const struct branch_feed_sample *sample = (const void *)(feed->samples + at);

		if (at == atomic_load(&feed->produced)) {
			usleep(100);
			continue;
		}
		make_record(&record, &job->attr, job->id, sample);
		put_into_ring(&job->ring, &record);
		at += sample->size;
		atomic_store(&feed->consumed, at);
	}
	return NULL;
}

/* Feeds the first hardware event that is turned on and has a ring. */
static void begin(int fd)
{
	const char *path = getenv("BRANCH_PMU_FEED");
	static struct job job;
	struct file *file = &files[fd], *ring = &files[file->output];
	int (*next)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))next_of("ioctl");
	pthread_t thread;
	int feed;

	if (feeding || !path || !file->hardware || !ring->ring ||
	    next(fd, PERF_EVENT_IOC_ID, &job.id))
		return;
	feed = open(path, O_RDWR | O_CLOEXEC);
	job.feed = mmap(NULL, BRANCH_FEED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, feed, 0);
	if (feed < 0 || job.feed == MAP_FAILED)
		abort();
	close(feed);
	job.attr = file->attr;
	job.ring = *ring;
	job.cpu = file->cpu;
	feeding = !pthread_create(&thread, NULL, feed_main, &job);
}

/* ---- What the recorder calls ---- */

static long next_syscall(long number, const long *a)
{
	static long (*next)(long, ...);

	if (!next)
		next = (long (*)(long, ...))next_of("syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static bool refused(const struct perf_event_attr *attr)
{
	const char *types = getenv("BRANCH_PMU_TYPES");

	return (types && !strcmp(types, "0") &&
		attr->branch_sample_type & PERF_SAMPLE_BRANCH_TYPE_SAVE) ||
	       attr->sample_type & (PERF_SAMPLE_READ | PERF_SAMPLE_RAW);
}

static long open_event(const long *a)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a[0];
	bool hardware = attr->type == PERF_TYPE_HARDWARE;
	struct perf_event_attr dummy = *attr;
	long b[6] = {(long)&dummy, a[1], a[2], a[3], a[4], a[5]}, fd;

	if (!hardware)
		return next_syscall(SYS_perf_event_open, a);
	if (refused(attr)) {
		errno = EINVAL;
		return -1;
	}
	dummy.type = PERF_TYPE_SOFTWARE;
	dummy.config = PERF_COUNT_SW_DUMMY;
	dummy.sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
	dummy.branch_sample_type = 0;
	dummy.precise_ip = 0;
	fd = next_syscall(SYS_perf_event_open, b);
	if (fd >= 0 && fd < FILES) {
		pthread_mutex_lock(&lock);
		files[fd] = (struct file){
			.hardware = true, .attr = *attr, .cpu = (int)a[2], .output = (int)fd};
		pthread_mutex_unlock(&lock);
	}
	return fd;
}

long syscall(long number, ...)
{
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	return number == SYS_perf_event_open ? open_event(a) : next_syscall(number, a);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, ...);
	va_list ap;
	long argument;
	int result;

	va_start(ap, request);
	argument = va_arg(ap, long);
	va_end(ap);
	if (!next)
		next = (int (*)(int, unsigned long, ...))next_of("ioctl");
	result = next(fd, request, argument);
	if (result || fd < 0 || fd >= FILES)
		return result;
	pthread_mutex_lock(&lock);
	if (request == PERF_EVENT_IOC_SET_OUTPUT && argument >= 0 && argument < FILES)
		files[fd].output = (int)argument;
	if (request == PERF_EVENT_IOC_ENABLE)
		begin(fd);
	pthread_mutex_unlock(&lock);
	return result;
}

/*
 * The kernel lets nobody else write into its rings: one that samples go to, where none but ours
 * come, is memory.
 */
void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	bool ring = fd >= 0 && fd < FILES && flags & MAP_SHARED && size > RARE_RING + page &&
		    !((size - page) & (size - page - 1));
	void *mapped;

	if (!next)
		next = (void *(*)(void *, size_t, int, int, int, off_t))next_of("mmap");
	mapped = next(address, size, protection, flags, fd, offset);
	if (!ring || mapped == MAP_FAILED)
		return mapped;
	/* the kernel's stays, for its events to write to */
	mapped = next(NULL, size, protection, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mapped != MAP_FAILED) {
		files[fd].ring = mapped;
		files[fd].ring_size = size - page;
	}
	return mapped;
}
