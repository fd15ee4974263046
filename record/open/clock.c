/* Compares the perf clock with CLOCK_MONOTONIC by page faults of the recorder itself. */
#include "record/open/clock.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "record/open/perf_event.h"

#define TRIES 8

uint64_t mt_clock_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads the time of the ring's last sample, the only field after the header. */
static bool last_sample(struct mt_ring *ring, uint64_t *time)
{
	const struct perf_event_header *header;
	bool found = false;

	mt_ring_begin(ring);
	while ((header = mt_ring_next(ring))) {
		if (header->type != PERF_RECORD_SAMPLE || header->size < sizeof(*header) + 8)
			continue;
		*time = mt_get_le64((const uint8_t *)header + sizeof(*header));
		found = true;
	}
	mt_ring_give_back(ring);
	return found;
}

/* Triggers the page fault once. False if no sample was written. */
static bool fault_once(struct mt_clock *clock, uint64_t *before, uint64_t *sampled, uint64_t *after)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	munlock(clock->page, page); /* MADV_DONTNEED fails on locked pages */
	if (madvise(clock->page, page, MADV_DONTNEED))
		return false;
	*before = mt_clock_monotonic();
	*(volatile uint8_t *)clock->page = 1;
	*after = mt_clock_monotonic();
	return last_sample(&clock->ring, sampled);
}

bool mt_clock_sync(struct mt_clock *clock)
{
	uint64_t before, sampled, after, best = UINT64_MAX;

	if (!clock->perf)
		return true;
	if (!clock->page)
		return false;
	ioctl(clock->ring.fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < TRIES; i++) {
		if (!fault_once(clock, &before, &sampled, &after) || after - before >= best)
			continue;
		best = after - before;
		clock->ahead = (int64_t)(sampled - (before + best / 2));
	}
	ioctl(clock->ring.fd, PERF_EVENT_IOC_DISABLE, 0);
	if (best == UINT64_MAX)
		return false;
	clock->within = best / 2;
	return true;
}

static bool open_event(const struct mt_perf_features *features, struct mt_clock *clock)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr = mt_perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	int fd;

	attr.sample_type = PERF_SAMPLE_TIME;
	fd = mt_perf_open(&attr, 0, -1, features);
	if (fd < 0)
		return false;
	if (mt_ring_map(fd, page, &clock->ring)) {
		close(fd);
		return false;
	}
	clock->page = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (clock->page == MAP_FAILED)
		clock->page = NULL;
	return clock->page;
}

bool mt_clock_open(const struct mt_perf_features *features, struct mt_clock *out)
{
	*out = (struct mt_clock){.perf = !features->clockid};
	return !out->perf || (open_event(features, out) && mt_clock_sync(out));
}

void mt_clock_close(struct mt_clock *clock)
{
	int fd = clock->ring.fd;

	if (clock->ring.page) {
		mt_ring_unmap(&clock->ring);
		close(fd);
	}
	if (clock->page)
		munmap(clock->page, (size_t)sysconf(_SC_PAGESIZE));
	*clock = (struct mt_clock){0};
}

uint64_t mt_clock_now(const struct mt_clock *clock)
{
	return mt_clock_monotonic() + (uint64_t)clock->ahead;
}

uint64_t mt_clock_thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
