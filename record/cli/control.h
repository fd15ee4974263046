/*
 * --control: commands from another program, by perf's protocol. Lines come in on one descriptor;
 * what was done is acknowledged with a line on another.
 */
#ifndef MT_RECORD_CLI_CONTROL_H
#define MT_RECORD_CLI_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;

enum mt_control_command {
	MT_CONTROL_NONE, /* no whole line yet */
	MT_CONTROL_ENABLE,
	MT_CONTROL_DISABLE,
	MT_CONTROL_PING,
	MT_CONTROL_STOP,
	MT_CONTROL_UNKNOWN, /* its text is in control->line */
};

struct mt_control {
	int in, ack;	   /* -1: none */
	char line[128];	   /* the command last taken */
	char pending[256]; /* read and not yet taken */
	size_t pending_size;
};

/*
 * Opens what "fifo:CTL[,ACK]" or "fd:N[,M]" names. Descriptors given by number are ours from then
 * on: a command does not inherit them.
 */
struct mt_error *mt_control_open(const char *text, struct mt_control *out);
void mt_control_close(struct mt_control *control);

/* Reads what is there, once; false where nobody can write any more. */
bool mt_control_read(struct mt_control *control);

/* The next whole command of what was read. */
enum mt_control_command mt_control_take(struct mt_control *control);

/* Says "ack", where somebody wants to hear it; never waits. */
void mt_control_ack(struct mt_control *control);

#endif
