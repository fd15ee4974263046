/*
 * --control: commands from another program in perf's protocol. Lines are read from one descriptor.
 * Each executed command is acknowledged by a line on another descriptor.
 */
#ifndef MT_RECORD_CLI_CONTROL_H
#define MT_RECORD_CLI_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct mt_error;

enum mt_control_command {
	MT_CONTROL_NONE, /* no complete line yet */
	MT_CONTROL_ENABLE,
	MT_CONTROL_DISABLE,
	MT_CONTROL_PING,
	MT_CONTROL_STOP,
	MT_CONTROL_UNKNOWN, /* an unknown command, whose text is in control->line */
};

struct mt_control {
	int in, ack;	   /* -1: none */
	char line[128];	   /* the last command */
	char pending[256]; /* bytes read but not yet taken */
	size_t pending_size;
};

/*
 * Opens "fifo:CTL[,ACK]" or "fd:N[,M]". Takes ownership of descriptors given by number; the
 * recorded command does not inherit them.
 */
struct mt_error *mt_control_open(const char *text, struct mt_control *out);
void mt_control_close(struct mt_control *control);

/* Reads once. Returns false if all writers have closed the descriptor, or if reading failed. */
bool mt_control_read(struct mt_control *control);

/* Takes the next complete line from the bytes read. Returns its command. */
enum mt_control_command mt_control_take(struct mt_control *control);

/* Writes "ack" if there is an ack descriptor. Never blocks. */
void mt_control_ack(struct mt_control *control);

#endif
