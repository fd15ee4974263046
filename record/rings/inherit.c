/*
 * What is lent is SCHED_RR, so that it can be told from what a thread was given meanwhile for other
 * reasons, SCHED_FIFO.
 */
#include "record/rings/inherit.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
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

/* SCHED_BATCH and SCHED_IDLE, too: as those mtrec was started, they need it most. */
static bool is_urgent(int policy)
{
	policy &= ~SCHED_RESET_ON_FORK;
	return policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE;
}

static void lend_to(struct mt_loan *loan, pid_t task)
{
	struct sched_param urgent = {.sched_priority = 1};
	int policy;

	if (task <= 0 || loan->count == MT_LENT_MAX)
		return;
	policy = sched_getscheduler(task);
	if (policy >= 0 && !is_urgent(policy) &&
	    !sched_setscheduler(task, SCHED_RR | (policy & SCHED_RESET_ON_FORK), &urgent))
		loan->to[loan->count++] = (struct mt_lent){task, policy};
}

void mt_loan_give(struct mt_loan *loan)
{
	_Alignas(struct entry) char entries[2048];
	long got, at;

	loan->count = 0;
	if (loan->tasks < 0 || lseek(loan->tasks, 0, SEEK_SET) || !is_urgent(sched_getscheduler(0)))
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
		const struct mt_lent *lent = &loan->to[i];

		if ((sched_getscheduler(lent->task) & ~SCHED_RESET_ON_FORK) == SCHED_RR)
			(void)sched_setscheduler(lent->task, lent->policy, &none);
	}
	loan->count = 0;
}
