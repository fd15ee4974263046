/*
 * Forks the child, holds it at a gate, and executes the command. The child inherits only the
 * standard streams of the recorder.
 */
#include "record/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"

enum {
	RECORDERS_FILES_MOST = 1024, /* it has a few tens open before the fork */
};

/* Returns 0 for a file that may be executed, else the reason as an errno. */
static int check_file(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

int mt_command_look_up(const char *name, char **out)
{
	const char *path = getenv("PATH"), *end;
	int best = ENOENT, errnum;

	if (strchr(name, '/')) {
		errnum = check_file(name);
		*out = errnum ? NULL : strdup(name);
		return errnum;
	}
	for (path = path ? path : "/bin:/usr/bin";; path = end + 1) {
		MT_CLEANUP_FREE char *file = NULL;

		end = strchrnul(path, ':');
		/* an empty entry of PATH is the current directory */
		if (asprintf(&file, "%.*s%s%s", (int)(end - path), path, end == path ? "./" : "/",
			     name) < 0)
			return ENOMEM;
		errnum = check_file(file);
		if (!errnum) {
			*out = MT_TAKE(file);
			return 0;
		}
		best = errnum == EACCES ? EACCES : best;
		if (!*end)
			return best;
	}
}

static void restore_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

/*
 * Closes the tracepoints that the recorder opened before the fork. The kernel takes about 30 ms to
 * close the last reference to one. Closing them here costs no time of the command, because the
 * recorder still has its references and waits. Otherwise the exec of the command would close them.
 */
static void close_recorders_files(int gate, int status)
{
	for (int fd = STDERR_FILENO + 1; fd < RECORDERS_FILES_MOST; fd++) {
		int flags = fd == gate || fd == status ? 0 : fcntl(fd, F_GETFD);

		if (flags >= 0 && (flags & FD_CLOEXEC))
			close(fd);
	}
}

static void child_main(char *const *argv, bool stdout_to_stderr, int gate, int status)
{
	char byte;
	int errnum = 0;

	close_recorders_files(gate, status);
	/* the recorder waits for this errno, or for the end of the pipe */
	if (write(status, &errnum, sizeof(errnum)) != sizeof(errnum))
		_exit(125);
	/* end of file means that the recorder died before it was ready */
	if (read(gate, &byte, 1) != 1)
		_exit(125);
	restore_signals();
	if (stdout_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(argv[0], argv);
	errnum = errno;
	(void)!write(status, &errnum, sizeof(errnum));
	_exit(errnum == ENOENT ? 127 : 126);
}

struct mt_error *mt_command_prepare(char *const *argv, bool stdout_to_stderr,
				    struct mt_command *out)
{
	int gate[2], status[2], closed;
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC))
		return mt_error_os(errno, "cannot make a pipe");
	if (pipe2(status, O_CLOEXEC)) {
		close(gate[0]);
		close(gate[1]);
		return mt_error_os(errno, "cannot make a pipe");
	}
	pid = fork();
	if (!pid) {
		close(gate[1]);
		close(status[0]);
		child_main(argv, stdout_to_stderr, gate[0], status[1]);
	}
	close(gate[0]);
	close(status[1]);
	if (pid < 0) {
		close(gate[1]);
		close(status[0]);
		return mt_error_os(errno, "cannot start the command");
	}
	*out = (struct mt_command){.pid = pid, .gate = gate[1], .exec_status = status[0]};
	/* the child has closed its copies of the tracepoints */
	if (read(status[0], &closed, sizeof(closed)) == sizeof(closed))
		return NULL;
	mt_command_abandon(out);
	*out = (struct mt_command){.gate = -1, .exec_status = -1};
	return mt_error_create(MT_ERR_OS, "the command's process ended before it could be run");
}

int mt_command_start(struct mt_command *command)
{
	int errnum = 0;

	(void)!write(command->gate, "", 1);
	close(command->gate);
	if (read(command->exec_status, &errnum, sizeof(errnum)) != sizeof(errnum))
		errnum = 0;
	close(command->exec_status);
	command->gate = command->exec_status = -1;
	if (errnum)
		mt_command_wait(command);
	return errnum;
}

bool mt_command_poll(struct mt_command *command)
{
	if (command->pid && !command->ended)
		command->ended =
			waitpid(command->pid, &command->wait_status, WNOHANG) == command->pid;
	return command->ended;
}

void mt_command_wait(struct mt_command *command)
{
	pid_t reaped;

	if (!command->pid || command->ended)
		return;
	do {
		reaped = waitpid(command->pid, &command->wait_status, 0);
	} while (reaped < 0 && errno == EINTR);
	command->ended = true;
}

void mt_command_abandon(struct mt_command *command)
{
	if (!command->pid || command->gate < 0)
		return;
	close(command->gate); /* the child then reads end of file and exits */
	close(command->exec_status);
	command->gate = command->exec_status = -1;
	mt_command_wait(command);
}
