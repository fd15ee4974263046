/*
 * Priority inheritance: whoever holds what a more urgent thread waits for is to run as urgently
 * itself. On a host whose CPUs are all taken it would otherwise come to run when a ring has long
 * overflowed.
 */
#ifndef MT_RECORD_RINGS_INHERIT_H
#define MT_RECORD_RINGS_INHERIT_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

/* A lock of that kind. */
void mt_inheriting_mutex(pthread_mutex_t *mutex);

#define MT_LENT_MAX 32 /* threads of a recorder are few but for its drains, which need no loan */

/*
 * The address space's lock is none of that kind: a real-time thread that is about to take it lends
 * its priority to all threads of this process that have none, and takes it back afterwards. Neither
 * touches memory that is not there.
 */
struct mt_loan {
	int tasks; /* fd of /proc/self/task, or -1 */
	size_t count;
	struct mt_lent {
		pid_t task;
		int policy; /* that it had */
	} to[MT_LENT_MAX];
};

/* Nothing is lent where init found no list of threads, or whoever gives has no such priority. */
void mt_loan_init(struct mt_loan *loan);
void mt_loan_deinit(struct mt_loan *loan);

/* For as long as between these two. */
void mt_loan_give(struct mt_loan *loan);
void mt_loan_take_back(struct mt_loan *loan);

#endif
