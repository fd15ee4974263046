/*
 * Waits without needless wakeups: polls file descriptors for all events. /proc is polled at
 * intervals only if the kernel has no pidfd (before 5.3) or a target is a thread.
 */
#include "record/cli/waiting.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/proc/procfs.h"

#define LOOK_NS 100000000ull /* interval of polling /proc for targets without a pidfd */
#define PIDFDS_MAX 64	     /* further targets are polled in /proc */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

struct mt_error *mt_waiting_init(struct mt_waiting *out)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* ulimit -f: write() fails instead */
	signal(SIGCHLD, SIG_DFL); /* if ignored, the command's status is lost */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!is_ignored(SIGHUP)) /* nohup ignores SIGHUP; blocked, it would be pending */
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	*out = (struct mt_waiting){
		.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
		.failed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.full = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.control = -1,
	};
	if (out->signals < 0 || out->failed < 0 || out->full < 0)
		return mt_error_os(errno, "cannot wait for signals");
	return NULL;
}

void mt_waiting_deinit(struct mt_waiting *waiting)
{
	for (size_t i = 0; i < waiting->targets.count; i++)
		mt_close_p(&waiting->targets.items[i].pidfd);
	mt_array_deinit(&waiting->targets);
	mt_close_p(&waiting->signals);
	mt_close_p(&waiting->failed);
	mt_close_p(&waiting->full);
}

bool mt_waiting_add_target(struct mt_waiting *waiting, pid_t tid)
{
	struct mt_watched *slot = mt_array_push(&waiting->targets);

	if (!slot)
		return false;
	slot->tid = tid;
	slot->pidfd = waiting->targets.count > PIDFDS_MAX
			      ? -1
			      : (int)syscall(SYS_pidfd_open, tid, 0); /* EINVAL for a thread */
	waiting->alive++;
	return true;
}

/* Returns true if the thread or process still runs: it exists and is not a zombie. */
static bool is_alive(pid_t tid)
{
	MT_CLEANUP_FREE char *stat = mt_read_textf(NULL, "/proc/%d/stat", tid);
	const char *state = stat ? strrchr(stat, ')') : NULL;

	return state && state[1] && state[2] != 'Z' && state[2] != 'X';
}

static bool needs_look(const struct mt_waiting *waiting)
{
	for (size_t i = 0; i < waiting->targets.count; i++) {
		if (!waiting->targets.items[i].gone && waiting->targets.items[i].pidfd < 0)
			return true;
	}
	return false;
}

/* Marks targets that have ended. The mark is permanent. */
static void look_at_targets(struct mt_waiting *waiting)
{
	for (size_t i = 0; i < waiting->targets.count; i++) {
		struct mt_watched *target = &waiting->targets.items[i];
		struct pollfd fd = {.fd = target->pidfd, .events = POLLIN};

		if (target->gone ||
		    (target->pidfd >= 0 ? poll(&fd, 1, 0) <= 0 : is_alive(target->tid)))
			continue;
		target->gone = true;
		waiting->alive--;
	}
}

bool mt_waiting_all_ended(struct mt_waiting *waiting)
{
	look_at_targets(waiting);
	return waiting->targets.count && !waiting->alive;
}

static unsigned causes_of(const struct pollfd *fds)
{
	static const unsigned causes[] = {MT_WAKE_SIGNAL, MT_WAKE_FAILED, MT_WAKE_FULL,
					  MT_WAKE_CONTROL};
	unsigned set = 0;

	for (size_t i = 0; i < 4; i++)
		set |= fds[i].revents ? causes[i] : 0;
	return set;
}

unsigned mt_waiting_poll(struct mt_waiting *waiting, uint64_t ns)
{
	struct pollfd fds[4 + PIDFDS_MAX] = {
		{.fd = waiting->signals, .events = POLLIN},
		{.fd = waiting->failed, .events = POLLIN},
		{.fd = waiting->full, .events = POLLIN},
		{.fd = waiting->control, .events = POLLIN},
	};
	struct timespec timeout;
	nfds_t count = 4;
	unsigned causes;

	for (size_t i = 0; i < waiting->targets.count && count < 4 + PIDFDS_MAX; i++) {
		if (!waiting->targets.items[i].gone && waiting->targets.items[i].pidfd >= 0)
			fds[count++] = (struct pollfd){.fd = waiting->targets.items[i].pidfd,
						       .events = POLLIN};
	}
	if (needs_look(waiting) && ns > LOOK_NS)
		ns = LOOK_NS;
	timeout = (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
				    .tv_nsec = (long)(ns % 1000000000)};
	ppoll(fds, count, &timeout, NULL);
	causes = causes_of(fds);
	return causes | (mt_waiting_all_ended(waiting) ? MT_WAKE_GONE : 0);
}

bool mt_waiting_for_signal(const struct mt_waiting *waiting, int ms)
{
	struct pollfd fd = {.fd = waiting->signals, .events = POLLIN};

	return poll(&fd, 1, ms) > 0;
}

int mt_waiting_take_signal(struct mt_waiting *waiting, bool *by_terminal)
{
	struct signalfd_siginfo info;

	if (read(waiting->signals, &info, sizeof(info)) != sizeof(info))
		return 0;
	*by_terminal = info.ssi_code == SI_KERNEL;
	return (int)info.ssi_signo;
}
