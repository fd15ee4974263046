/* Bounds the memory of the recorder, locks it, and protects it from the OOM killer. */
#include "record/rings/self_limits.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mempolicy.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/stacks/stack_encoder.h"
#include "record/open/limits.h"
#include "record/proc/procfs.h"
#include "record/rings/spool.h"

#define MIB ((uint64_t)1 << 20)
#define DEFAULT_MEMORY (64 * MIB)
#define UNWINDING_MEMORY (160 * MIB)
#define BASE (10 * MIB)	    /* code, libraries, zstd, the writer's buffers, the tables of images */
#define CARRYING (14 * MIB) /* tables and symbols of one image, zstd, chunks that wait */
#define UNWINDING                                                                                 \
	(10 * MIB)	     /* rules, stack images, a block, maps of processes, headers of files \
			      */
#define TABLES_MIN (6 * MIB) /* the largest library of a compiler or a browser has 5 to 15 MiB */
#define HOLD_MIN (4 * MIB)
#define IMAGE ((uint64_t)MT_STACK_SLOT_SIZE)
#define IMAGES_MIN 4
#define IMAGES_MAX 64
#define BLOCKS_MIN 16
#define STACK ((size_t)256 << 10) /* of a thread; all of it is locked */
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
	/* the tables also have indexes, half as large */
	uint64_t base = BASE + (use->carries ? CARRYING : 0) +
			(use->unwinds ? UNWINDING + tables + tables / 2 + hold : 0);
	/* each stream fills a block, has images of four threads, and half a block in flight */
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

void mt_self_limits_bound_stacks(void)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	if (!pthread_attr_setstacksize(&attr, STACK))
		(void)pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
}

void mt_self_limits_stay_local(void)
{
	int mode = MPOL_LOCAL;

	if (!syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) && mode == MPOL_DEFAULT)
		(void)!syscall(SYS_set_mempolicy, MPOL_LOCAL, NULL, 0);
}

void mt_self_limits_bound_heap(void)
{
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 << 10); /* a threshold set explicitly does not grow */
#endif
}

uint64_t mt_self_limits_memory(void)
{
	MT_CLEANUP_FREE char *text = mt_read_text("/proc/self/statm", NULL);
	unsigned long resident, shared;

	if (!text || sscanf(text, "%*u %lu %lu", &resident, &shared) != 2 || shared > resident)
		return 0;
	return (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool mt_self_limits_lock_memory(void)
{
	struct rlimit limit;

	if (!mt_limits_capable(CAP_IPC_LOCK) &&
	    (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur != RLIM_INFINITY))
		return false;
	/* before 4.4 only everything can be locked at once; later memory is not locked then */
	return !mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) || !mlockall(MCL_CURRENT);
}

bool mt_self_limits_have_memory(void)
{
	if (mlockall(MCL_CURRENT))
		return false;
	(void)!mlockall(MCL_FUTURE | MCL_ONFAULT); /* fails before 4.4 */
	return true;
}

static bool set_oom_adj(int value)
{
	MT_CLEANUP_CLOSE int fd = open(OOM_ADJ, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && dprintf(fd, "%d", value) > 0;
}

int mt_self_limits_spare_from_oom(void)
{
	static const int wishes[] = {-1000, -500, 0};
	long now = mt_read_number(OOM_ADJ, 0);

	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		if (wishes[i] >= now || set_oom_adj(wishes[i]))
			break;
	}
	return (int)mt_read_number(OOM_ADJ, 0);
}

enum mt_priority mt_self_limits_raise_priority(void)
{
	struct sched_param realtime = {.sched_priority = 1};

	if (!sched_setscheduler(0, SCHED_FIFO, &realtime))
		return MT_PRIORITY_REALTIME;
	return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20) ? MT_PRIORITY_NORMAL
									 : MT_PRIORITY_NICE;
}
