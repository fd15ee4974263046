/*
 * What a real-time thread runs on, there before it runs. A page that comes with the first touch is
 * a fault; a fault takes the address space's lock; and whoever holds that may be of the lowest
 * priority, on a host whose CPUs all have something better to do, while a ring overflows.
 */
#ifndef MT_RECORD_READY_H
#define MT_RECORD_READY_H

/* The code and data of this program and of the C library. */
void mt_ready_code(void);

/*
 * Where there are several nodes of memory, the kernel takes pages away now and then to see by the
 * next fault which node's threads use them: not from this process and its threads. Children inherit
 * that: fork before.
 */
void mt_ready_local(void);

/* As much of the calling thread's stack as a real-time thread uses here. */
void mt_ready_stack(void);

#endif
