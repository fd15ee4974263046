/*
 * The command that mtrec records or waits for: forked early, held at a gate until the events are
 * open, then executed.
 */
#ifndef MT_RECORD_CLI_COMMAND_H
#define MT_RECORD_CLI_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct mt_error;

struct mt_command {
	pid_t pid;	 /* 0: none */
	int gate;	 /* closing it lets the child go on */
	int exec_status; /* the child writes errno here when execvp fails */
	bool ended;
	int wait_status; /* as waitpid gives it, where ended */
};

/*
 * Whether execvp would find the command: 0, or the errno that it would fail with. So that a slip of
 * the finger neither opens events nor moves an earlier recording.
 */
int mt_command_look_up(const char *name);

/* Forks. stdout_to_stderr: the recording itself goes to standard output. */
struct mt_error *mt_command_prepare(char *const *argv, bool stdout_to_stderr,
				    struct mt_command *out);

/* Opens the gate; returns 0, or the errno of a failed exec (the child is then gone and reaped). */
int mt_command_start(struct mt_command *command);

/* Reaps the child if it has ended; true once it has. */
bool mt_command_poll(struct mt_command *command);

/* Waits for its end. */
void mt_command_wait(struct mt_command *command);

/* Ends a child that was prepared but not started. Harmless otherwise. */
void mt_command_abandon(struct mt_command *command);

#endif
