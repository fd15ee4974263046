/* Memory: how much, locked, and spared by the OOM killer. */
#include "record/guest.h"

#include <fcntl.h>
#include <linux/capability.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/stack_encoder.h"
#include "record/limits.h"
#include "record/procfs.h"
#include "record/spool.h"

#define MIB ((uint64_t)1 << 20)
#define DEFAULT_MEMORY (64 * MIB)
#define UNWINDING_MEMORY (160 * MIB)
#define BASE (10 * MIB)	     /* code, libraries, zstd, the writer's buffers, the tables of images */
#define CARRYING (14 * MIB)  /* one image's tables and symbols, zstd, chunks that wait */
#define UNWINDING (10 * MIB) /* rules, stack images, a block, maps of processes, files' headers */
#define TABLES_MIN (6 * MIB) /* a compiler's or a browser's largest library has 5 to 15 */
#define HOLD_MIN (4 * MIB)
#define IMAGE ((uint64_t)MT_STACK_SLOT_SIZE)
#define IMAGES_MIN 4
#define IMAGES_MAX 64
#define BLOCKS_MIN 16
#define OOM_ADJ "/proc/self/oom_score_adj"
#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

static uint64_t part_of(uint64_t bytes, unsigned part, uint64_t least)
{
	return bytes / part > least ? bytes / part : least;
}

struct mt_memory_share mt_memory_share(uint64_t bytes, size_t streams,
				       const struct mt_memory_use *use)
{
	uint64_t normal = use->unwinds ? UNWINDING_MEMORY : DEFAULT_MEMORY;
	uint64_t most = bytes ? bytes : normal;
	uint64_t tables = use->unwinds ? part_of(most, 5, TABLES_MIN) : 0;
	uint64_t hold = use->unwinds ? part_of(most, 10, HOLD_MIN) : 0;
	/* beside the tables there are indexes of them, half as large */
	uint64_t base = BASE + (use->carries ? CARRYING : 0) +
			(use->unwinds ? UNWINDING + tables + tables / 2 + hold : 0);
	/* each stream fills a block; images of four threads, and half a block on its way */
	uint64_t wanted = base + 8 * MIB + streams * (3 * MIB / 2 + IMAGES_MIN * IMAGE);
	struct mt_memory_share share = {.bytes = bytes, .tables = tables, .hold = hold};
	uint64_t images;

	if (!bytes)
		share.bytes = wanted > normal ? wanted : normal;
	images = share.bytes / 4 / IMAGE / (streams ? streams : 1);
	share.images = images < IMAGES_MIN   ? IMAGES_MIN
		       : images > IMAGES_MAX ? IMAGES_MAX
					     : (unsigned)images;
	images = streams * share.images * IMAGE;
	share.blocks = share.bytes > base + images
			       ? (size_t)((share.bytes - base - images) / MT_SPOOL_BLOCK)
			       : 0;
	if (share.blocks < BLOCKS_MIN) {
		share.blocks = BLOCKS_MIN;
		share.bytes = base + images + BLOCKS_MIN * MT_SPOOL_BLOCK;
	}
	return share;
}

void mt_guest_bound_heap(void)
{
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 << 10); /* set by hand, it does not grow by itself */
#endif
}

bool mt_guest_lock_memory(void)
{
	struct rlimit limit;

	if (!mt_limits_capable(CAP_IPC_LOCK) &&
	    (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur != RLIM_INFINITY))
		return false;
	/* before 4.4 there is only all at once: what comes later is not locked then */
	return !mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) || !mlockall(MCL_CURRENT);
}

static bool set_oom_adj(int value)
{
	MT_CLEANUP_CLOSE int fd = open(OOM_ADJ, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && dprintf(fd, "%d", value) > 0;
}

int mt_guest_spare_from_oom(void)
{
	static const int wishes[] = {-1000, -500, 0};
	long now = mt_read_number(OOM_ADJ, 0);

	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		if (wishes[i] >= now || set_oom_adj(wishes[i]))
			break;
	}
	return (int)mt_read_number(OOM_ADJ, 0);
}

enum mt_priority mt_guest_raise_priority(void)
{
	struct sched_param realtime = {.sched_priority = 1};

	if (!sched_setscheduler(0, SCHED_FIFO, &realtime))
		return MT_PRIORITY_REALTIME;
	return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20) ? MT_PRIORITY_NORMAL
									 : MT_PRIORITY_NICE;
}

uint64_t mt_guest_thread_cpu_ns(void)
{
	struct timespec t = {0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
