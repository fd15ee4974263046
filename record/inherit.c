/*
 * What is lent is SCHED_RR, so that it can be told from what a thread was given meanwhile for other
 * reasons, SCHED_FIFO.
 */
#include "record/inherit.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

struct entry { /* of getdents64(2) */
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

void mt_inheriting_mutex(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

void mt_loan_init(struct mt_loan *loan)
{
	*loan = (struct mt_loan){
		.tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

void mt_loan_deinit(struct mt_loan *loan)
{
	mt_close_p(&loan->tasks);
}

static void lend_to(struct mt_loan *loan, pid_t task)
{
	struct sched_param urgent = {.sched_priority = 1};

	if (task > 0 && loan->count < MT_LENT_MAX && sched_getscheduler(task) == SCHED_OTHER &&
	    !sched_setscheduler(task, SCHED_RR, &urgent))
		loan->to[loan->count++] = task;
}

void mt_loan_give(struct mt_loan *loan)
{
	_Alignas(struct entry) char entries[2048];
	long got, at;

	loan->count = 0;
	if (loan->tasks < 0 || lseek(loan->tasks, 0, SEEK_SET) ||
	    sched_getscheduler(0) == SCHED_OTHER)
		return;
	while ((got = syscall(SYS_getdents64, loan->tasks, entries, sizeof(entries))) > 0) {
		for (at = 0; at < got;) {
			const struct entry *entry = (const void *)(entries + at);

			lend_to(loan, (pid_t)strtol(entry->name, NULL, 10));
			at += entry->size;
		}
	}
}

void mt_loan_take_back(struct mt_loan *loan)
{
	struct sched_param none = {.sched_priority = 0};

	for (size_t i = 0; i < loan->count; i++) {
		if (sched_getscheduler(loan->to[i]) == SCHED_RR)
			(void)sched_setscheduler(loan->to[i], SCHED_OTHER, &none);
	}
	loan->count = 0;
}
