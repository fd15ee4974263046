/* The thread that sleeps until few free blocks or stack images (stack_image.h) are left. */
#include "record/rings/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "formats/base/thread.h"
#include "record/rings/drain.h"
#include "record/rings/self_limits.h"
#include "record/rings/spool.h"

struct mt_ahead {
	struct mt_spool *spool;
	struct mt_drain *const *drains;
	_Atomic size_t drain_count;
	_Atomic bool asked, stop;
	int wake; /* eventfd */
	pthread_t thread;
	bool running;
};

static void wake(struct mt_ahead *ahead)
{
	uint64_t one = 1;

	(void)!write(ahead->wake, &one, sizeof(one));
}

void mt_ahead_ask(void *context)
{
	struct mt_ahead *ahead = context;

	if (!atomic_exchange(&ahead->asked, true))
		wake(ahead);
}

static void *ahead_main(void *argument)
{
	struct mt_ahead *ahead = argument;
	uint64_t ignored;

	(void)mt_self_limits_raise_priority();
	while (!atomic_load(&ahead->stop)) {
		if (read(ahead->wake, &ignored, sizeof(ignored)) < 0 && errno != EINTR)
			break;
		atomic_store(&ahead->asked, false);
		mt_spool_grow(ahead->spool);
		for (size_t i = 0; i < atomic_load(&ahead->drain_count); i++)
			mt_drain_grow(ahead->drains[i]);
	}
	return NULL;
}

static int start(struct mt_ahead *ahead)
{
	int failed = mt_thread_start(&ahead->thread, ahead_main, ahead);

	ahead->running = !failed;
	return failed;
}

struct mt_error *mt_ahead_create(struct mt_spool *spool, struct mt_ahead **out)
{
	struct mt_ahead *ahead = calloc(1, sizeof(*ahead));
	int failed;

	if (!ahead)
		return mt_error_nomem();
	ahead->spool = spool;
	ahead->wake = eventfd(0, EFD_CLOEXEC);
	failed = ahead->wake < 0 ? errno : start(ahead);
	if (failed) {
		mt_ahead_destroy(ahead);
		return mt_error_os(failed, "cannot start the thread that fetches memory");
	}
	mt_spool_set_want(spool, mt_ahead_ask, ahead);
	*out = ahead;
	return NULL;
}

void mt_ahead_add_drains(struct mt_ahead *ahead, struct mt_drain *const *drains, size_t count)
{
	ahead->drains = drains;
	atomic_store(&ahead->drain_count, count);
}

void mt_ahead_destroy(struct mt_ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->running) {
		mt_spool_set_want(ahead->spool, NULL, NULL);
		atomic_store(&ahead->stop, true);
		wake(ahead);
		pthread_join(ahead->thread, NULL);
	}
	if (ahead->wake >= 0)
		close(ahead->wake);
	free(ahead);
}
