/*
 * What the main thread waits for: signals, the end of what is recorded, word from the writing
 * thread. Tells what happened; what follows from it is the recorder's.
 */
#ifndef MT_RECORD_CLI_WAITING_H
#define MT_RECORD_CLI_WAITING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/array.h"

struct mt_error;

/* Why a wait ended, a set. */
enum mt_wake {
	MT_WAKE_SIGNAL = 1,  /* signals to take */
	MT_WAKE_FAILED = 2,  /* the output failed */
	MT_WAKE_FULL = 4,    /* the output is as large as it may be */
	MT_WAKE_CONTROL = 8, /* the control descriptor can be read, or has lost its writers */
	MT_WAKE_GONE = 16,   /* all targets are gone */
};

/* A target that is watched. */
struct mt_watched {
	pid_t tid;
	int pidfd; /* readable when it has ended; -1: looked up in /proc */
	bool gone;
};

struct mt_waiting {
	int signals;  /* signalfd */
	int failed;   /* eventfd: the output failed */
	int full;     /* eventfd: the output is full */
	int control;  /* -1: none; borrowed */
	size_t alive; /* watched targets that are not gone */
	MT_ARRAY(struct mt_watched) targets;
};

/*
 * Blocks the signals that end a recording, for this thread and those that it starts from now on:
 * they are read, not handled. *out must be closed even after a failure.
 */
struct mt_error *mt_waiting_init(struct mt_waiting *out);
void mt_waiting_deinit(struct mt_waiting *waiting);

/* Watches a process or thread; false out of memory. */
bool mt_waiting_add_target(struct mt_waiting *waiting, pid_t tid);

/* Waits for at most that many nanoseconds; returns a set of enum mt_wake, 0 when the time is up. */
unsigned mt_waiting_poll(struct mt_waiting *waiting, uint64_t ns);

/* Waits for a signal alone, SIGCHLD too. */
void mt_waiting_poll_signals(struct mt_waiting *waiting);

/* Whether a signal waits to be taken. */
bool mt_waiting_has_signal(const struct mt_waiting *waiting);

/* The next signal that came: its number, *by_terminal where the kernel sent it; 0 for none. */
int mt_waiting_take_signal(struct mt_waiting *waiting, bool *by_terminal);

#endif
