/* The thread is woken when few free blocks or stack images (stack_image.h) are left. */
#include "record/rings/ahead.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "formats/base/err.h"
#include "record/rings/drain.h"
#include "record/rings/spool.h"
#include "record/rings/wake_thread.h"

struct mt_ahead {
	struct mt_spool *spool;
	struct mt_drain *const *drains;
	_Atomic size_t drain_count;
	struct mt_wake_thread thread;
};

struct mt_wake_thread *mt_ahead_thread(struct mt_ahead *ahead)
{
	return &ahead->thread;
}

static void ask(void *thread)
{
	mt_wake_thread_ask(thread);
}

static void grow(void *context)
{
	struct mt_ahead *ahead = context;

	mt_spool_grow(ahead->spool);
	for (size_t i = 0; i < atomic_load(&ahead->drain_count); i++)
		mt_drain_grow(ahead->drains[i]);
}

struct mt_error *mt_ahead_create(struct mt_spool *spool, struct mt_ahead **out)
{
	struct mt_ahead *ahead = calloc(1, sizeof(*ahead));
	struct mt_error *err;

	if (!ahead)
		return mt_error_nomem();
	ahead->spool = spool;
	ahead->thread.is_urgent = true;
	err = mt_wake_thread_start(&ahead->thread, grow, ahead, "fetches memory");
	if (err) {
		free(ahead);
		return err;
	}
	mt_spool_set_want(spool, ask, &ahead->thread);
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
	mt_spool_set_want(ahead->spool, NULL, NULL);
	(void)mt_wake_thread_stop(&ahead->thread, 0);
	free(ahead);
}
