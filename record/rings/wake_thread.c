/* The thread reads an eventfd. While the thread is awake, `asked` saves writing to the eventfd. */
#include "record/rings/wake_thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "formats/base/pool.h"
#include "record/rings/self_limits.h"

#define STEP_US 1000

static void *thread_main(void *argument)
{
	struct mt_wake_thread *thread = argument;
	uint64_t ignored;

	if (thread->is_urgent)
		(void)mt_self_limits_raise_priority();
	while (!atomic_load(&thread->stop)) {
		if (read(thread->wake, &ignored, sizeof(ignored)) < 0 && errno != EINTR)
			break;
		atomic_store(&thread->asked, false);
		thread->work(thread->context);
	}
	atomic_store(&thread->ended, true);
	return NULL;
}

struct mt_error *mt_wake_thread_start(struct mt_wake_thread *thread, void (*work)(void *context),
				      void *context, const char *what)
{
	int failed;

	thread->work = work;
	thread->context = context;
	thread->wake = eventfd(0, EFD_CLOEXEC);
	failed = thread->wake < 0 ? errno : mt_thread_start(&thread->thread, thread_main, thread);
	thread->is_running = !failed;
	if (failed && thread->wake >= 0)
		close(thread->wake);
	return failed ? mt_error_os(failed, "cannot start the thread that %s", what) : NULL;
}

static void wake(struct mt_wake_thread *thread)
{
	uint64_t one = 1;

	(void)!write(thread->wake, &one, sizeof(one));
}

void mt_wake_thread_ask(struct mt_wake_thread *thread)
{
	if (!atomic_exchange(&thread->asked, true))
		wake(thread);
}

bool mt_wake_thread_stop(struct mt_wake_thread *thread, unsigned most_us)
{
	if (!thread->is_running)
		return true;
	atomic_store(&thread->stop, true);
	wake(thread);
	for (unsigned us = 0; us < most_us && !atomic_load(&thread->ended); us += STEP_US)
		usleep(STEP_US);
	if (most_us && !atomic_load(&thread->ended))
		return false;
	pthread_join(thread->thread, NULL);
	close(thread->wake);
	thread->is_running = false;
	return true;
}
