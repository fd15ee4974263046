/* record/rings/inherit: a loan of priority, to whom it goes and that it comes back. */
#include "record/rings/inherit.h"

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/unit.h"

struct sleeper {
	pthread_t thread;
	_Atomic pid_t task;
	sem_t ready, wake;
};

static void *sleep_on(void *argument)
{
	struct sleeper *sleeper = argument;

	sleeper->task = (pid_t)syscall(SYS_gettid);
	sem_post(&sleeper->ready);
	sem_wait(&sleeper->wake);
	return NULL;
}

static bool begin(struct sleeper *sleeper)
{
	sem_init(&sleeper->ready, 0, 0);
	sem_init(&sleeper->wake, 0, 0);
	if (pthread_create(&sleeper->thread, NULL, sleep_on, sleeper))
		return false;
	sem_wait(&sleeper->ready);
	return true;
}

static void end(struct sleeper *sleeper)
{
	sem_post(&sleeper->wake);
	pthread_join(sleeper->thread, NULL);
	sem_destroy(&sleeper->ready);
	sem_destroy(&sleeper->wake);
}

static bool set_policy(pid_t task, int policy)
{
	struct sched_param param = {.sched_priority = policy == SCHED_FIFO};

	return !sched_setscheduler(task, policy, &param);
}

MT_TEST(who_has_no_priority_lends_none)
{
	struct sleeper sleeper;
	struct mt_loan loan;

	mt_loan_init(&loan);
	MT_REQUIRE(begin(&sleeper));
	mt_loan_give(&loan);
	MT_CHECK_EQ(loan.count, 0);
	MT_CHECK_EQ(sched_getscheduler(sleeper.task), SCHED_OTHER);
	mt_loan_take_back(&loan);
	end(&sleeper);
	mt_loan_deinit(&loan);
}

/* What a thread was given for good meanwhile, it keeps. */
MT_TEST(a_loan_goes_to_those_without_and_comes_back)
{
	struct sleeper plain, urgent, promoted;
	struct mt_loan loan;

	mt_loan_init(&loan);
	MT_REQUIRE(begin(&plain) && begin(&urgent) && begin(&promoted));
	if (set_policy(0, SCHED_FIFO) && set_policy(urgent.task, SCHED_FIFO)) {
		mt_loan_give(&loan);
		MT_CHECK(loan.count >= 2); /* a sanitizer may have threads of its own */
		MT_CHECK_EQ(sched_getscheduler(plain.task), SCHED_RR);
		MT_CHECK_EQ(sched_getscheduler(urgent.task), SCHED_FIFO);
		MT_CHECK_EQ(sched_getscheduler(0), SCHED_FIFO);
		MT_CHECK(set_policy(promoted.task, SCHED_FIFO));
		mt_loan_take_back(&loan);
		MT_CHECK_EQ(sched_getscheduler(plain.task), SCHED_OTHER);
		MT_CHECK_EQ(sched_getscheduler(urgent.task), SCHED_FIFO);
		MT_CHECK_EQ(sched_getscheduler(promoted.task), SCHED_FIFO);
		MT_CHECK(set_policy(0, SCHED_OTHER));
	}
	end(&plain);
	end(&urgent);
	end(&promoted);
	mt_loan_deinit(&loan);
}

/* nice(1), chrt -b, chrt -i and chrt -R: mtrec may be started so. */
MT_TEST(a_loan_goes_to_the_lowest_and_they_are_afterwards_what_they_were)
{
	static const int policies[] = {SCHED_BATCH, SCHED_IDLE, SCHED_OTHER | SCHED_RESET_ON_FORK};
	struct sleeper sleepers[3];
	struct mt_loan loan;

	mt_loan_init(&loan);
	for (size_t i = 0; i < 3; i++) {
		MT_REQUIRE(begin(&sleepers[i]));
		MT_CHECK(set_policy(sleepers[i].task, policies[i]));
		MT_CHECK(!setpriority(PRIO_PROCESS, (id_t)sleepers[i].task, 7));
	}
	if (set_policy(0, SCHED_FIFO)) {
		mt_loan_give(&loan);
		for (size_t i = 0; i < 3; i++)
			MT_CHECK_EQ(sched_getscheduler(sleepers[i].task) & ~SCHED_RESET_ON_FORK,
				    SCHED_RR);
		mt_loan_take_back(&loan);
		MT_CHECK(set_policy(0, SCHED_OTHER));
	}
	for (size_t i = 0; i < 3; i++) {
		MT_CHECK_EQ(sched_getscheduler(sleepers[i].task), policies[i]);
		MT_CHECK_EQ(getpriority(PRIO_PROCESS, (id_t)sleepers[i].task), 7);
		end(&sleepers[i]);
	}
	mt_loan_deinit(&loan);
}

MT_TEST_MAIN
