/*
 * Runs the command that is recorded or waited for. It is forked early, held at a gate until the
 * events are open, and then executed.
 */
#ifndef MT_RECORD_CLI_COMMAND_H
#define MT_RECORD_CLI_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct mt_error;

struct mt_command {
	pid_t pid; /* 0: none */
	int gate; /* descriptor; a byte written to it starts the child, closing it ends the child */
	int exec_status; /* descriptor; the child writes errno to it if execvp fails */
	bool ended;
	int wait_status; /* status of waitpid, if ended */
};

/*
 * Checks that execvp would find the command. Returns 0 and sets *file to its path, which the caller
 * frees; or returns the errno of execvp. Call it first, so that a mistyped name neither opens
 * events nor renames an earlier recording.
 */
int mt_command_look_up(const char *name, char **file);

/* Forks the child. stdout_to_stderr: the recording itself is written to standard output. */
struct mt_error *mt_command_prepare(char *const *argv, bool stdout_to_stderr,
				    struct mt_command *out);

/* Opens the gate. Returns 0, or the errno of a failed exec; the child is then reaped. */
int mt_command_start(struct mt_command *command);

/* Reaps the child if it has ended. Returns true if the child is reaped. */
bool mt_command_poll(struct mt_command *command);

/* Waits until the child ends, and reaps it. */
void mt_command_wait(struct mt_command *command);

/* Ends a child that was prepared but not started. Otherwise does nothing. */
void mt_command_abandon(struct mt_command *command);

#endif
