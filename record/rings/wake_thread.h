/* A thread that sleeps until another thread asks it to work. */
#ifndef MT_RECORD_RINGS_WAKE_THREAD_H
#define MT_RECORD_RINGS_WAKE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct mt_error;

/* Initialise to zero: there is no thread. */
struct mt_wake_thread {
	void (*work)(void *context);
	void *context;
	bool is_urgent; /* runs with the priority of drains */
	bool is_running;
	_Atomic bool asked, stop, ended;
	int wake; /* eventfd */
	pthread_t thread;
};

/* Starts the thread. what: its task, for the message of a failure: "fetches memory". */
struct mt_error *mt_wake_thread_start(struct mt_wake_thread *thread, void (*work)(void *context),
				      void *context, const char *what);

/* Makes the thread call work(context). Callable from any thread; never waits. */
void mt_wake_thread_ask(struct mt_wake_thread *thread);

/*
 * Ends the thread, if it runs. False if its work does not return within most_us microseconds (0:
 * waits without limit); the thread then still uses its data.
 */
bool mt_wake_thread_stop(struct mt_wake_thread *thread, unsigned most_us);

#endif
