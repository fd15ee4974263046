/*
 * Threads that take no signals: those are the main thread's.
 */
#ifndef MT_FORMATS_BASE_THREAD_H
#define MT_FORMATS_BASE_THREAD_H

#include <pthread.h>

/* Starts one. 0, or the number of the error. */
int mt_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
