/*
 * Threads with all signals blocked: signals are handled by the main thread.
 */
#ifndef MT_FORMATS_BASE_THREAD_H
#define MT_FORMATS_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread; 0, or an errno value. */
int mt_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
