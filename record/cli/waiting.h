/*
 * The poll of the main thread: signals, the end of targets, --control, and the writing thread's
 * events. Returns why it ended; the recorder acts on that.
 */
#ifndef MT_RECORD_CLI_WAITING_H
#define MT_RECORD_CLI_WAITING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/array.h"

struct mt_error;

/* Why a wait ended; a set of bits. */
enum mt_wake {
	MT_WAKE_SIGNAL = 1,  /* a signal is pending */
	MT_WAKE_FAILED = 2,  /* the output failed */
	MT_WAKE_FULL = 4,    /* the output has reached --max-size */
	MT_WAKE_CONTROL = 8, /* the control descriptor is readable or has no writers left */
	MT_WAKE_GONE = 16,   /* all targets have ended */
};

/* A watched target. */
struct mt_watched {
	pid_t tid;
	int pidfd; /* readable when the target has ended; -1: /proc is polled */
	bool gone;
};

struct mt_waiting {
	int signals;  /* signalfd */
	int failed;   /* eventfd: the output failed */
	int full;     /* eventfd: the output is full */
	int control;  /* descriptor of --control, borrowed; -1: none */
	size_t alive; /* number of watched targets that have not ended */
	MT_ARRAY(struct mt_watched) targets;
};

/*
 * Blocks the signals that end a recording, in this thread and in threads that it starts later. The
 * signals are read, not handled. Call mt_waiting_deinit() even after a failure.
 */
struct mt_error *mt_waiting_init(struct mt_waiting *out);
void mt_waiting_deinit(struct mt_waiting *waiting);

/* Watches a process or thread. False out of memory. */
bool mt_waiting_add_target(struct mt_waiting *waiting, pid_t tid);

/* Returns true if there are targets and all have ended. */
bool mt_waiting_all_ended(struct mt_waiting *waiting);

/* Waits for at most ns nanoseconds. Returns a set of enum mt_wake, 0 on timeout. */
unsigned mt_waiting_poll(struct mt_waiting *waiting, uint64_t ns);

/*
 * Waits up to ms milliseconds (-1: without limit) for a signal, SIGCHLD included. False if no
 * signal is pending.
 */
bool mt_waiting_for_signal(const struct mt_waiting *waiting, int ms);

/*
 * Takes the next pending signal. Returns its number, or 0 for none. *by_terminal: the kernel sent
 * the signal.
 */
int mt_waiting_take_signal(struct mt_waiting *waiting, bool *by_terminal);

#endif
