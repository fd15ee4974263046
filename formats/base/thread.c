#include "formats/base/thread.h"

#include <signal.h>

int mt_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(thread, NULL, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}
