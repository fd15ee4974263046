/* Threads with all signals blocked, because the main thread handles signals; and their locks. */
#ifndef MT_FORMATS_BASE_THREAD_H
#define MT_FORMATS_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread; 0, or an errno value. */
int mt_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* Initialises a mutex whose holder inherits the priority of the threads that wait for it. */
void mt_inheriting_mutex(pthread_mutex_t *mutex);

#endif
