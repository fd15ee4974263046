/*
 * Opening the output. A rename rather than a truncation: freeing a large file's blocks would stall
 * the start.
 */
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"

#define ELSEWHERE "-o FILE chooses another place"
#define READER_MS 20 /* how often a FIFO is looked at */

static struct mt_error *output_error(int errnum, const char *path)
{
	struct mt_error *err = mt_error_os(errnum, "cannot write %s", path);

	if (err->kind != MT_ERR_NOMEM)
		err->kind = MT_ERR_OUTPUT;
	return mt_error_hint(err, ELSEWHERE);
}

static bool is_pipe(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISFIFO(status.st_mode);
}

/*
 * Waits for somebody to read it, until a signal comes: signals are blocked, so that open() itself
 * would wait through them all.
 */
static struct mt_error *open_fifo(const char *path, int signals, int *fd)
{
	struct pollfd given_up = {.fd = signals, .events = POLLIN};
	int opened;

	while ((opened = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
		if (errno != ENXIO)
			return output_error(errno, path);
		if (poll(&given_up, 1, READER_MS) > 0)
			return mt_error_hint(mt_error_create(MT_ERR_OUTPUT,
							     "cannot write %s: nobody read it yet",
							     path),
					     ELSEWHERE);
	}
	*fd = opened;
	return NULL;
}

static struct mt_error *open_stdout(int *fd)
{
	int copy;

	if (isatty(STDOUT_FILENO))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "a recording is not for a terminal"),
				     "send it to a file or a pipe: mtrec -o - ... | cat > FILE");
	/*
	 * a pipe is opened anew where that goes, not to block on a reader that has stopped; sharing
	 * O_NONBLOCK would be no favour to others
	 */
	copy = is_pipe(STDOUT_FILENO) ? open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
				      : -1;
	if (copy < 0)
		copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return output_error(errno, "standard output");
	*fd = copy;
	return NULL;
}

/* Renames path to path.old. */
static struct mt_error *keep_as_old(const char *path)
{
	MT_CLEANUP_FREE char *old = NULL;

	if (asprintf(&old, "%s.old", path) < 0) {
		old = NULL;
		return mt_error_nomem();
	}
	return rename(path, old) ? output_error(errno, old) : NULL;
}

struct mt_error *mt_output_open(const char *path, int signals, int *fd)
{
	MT_CLEANUP_FREE char *target = NULL;
	struct stat status;
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY, opened;
	struct mt_error *err = NULL;

	if (!strcmp(path, "-"))
		return open_stdout(fd);
	target = realpath(path, NULL); /* a link stays; what it leads to is kept and made anew */
	if (!target || stat(target, &status)) {
		flags |= O_CREAT;
	} else if (S_ISFIFO(status.st_mode)) {
		return open_fifo(path, signals, fd);
	} else if (S_ISREG(status.st_mode)) {
		flags |= O_CREAT | O_EXCL;
		err = keep_as_old(target);
	}
	if (err)
		return err;
	opened = open(target ? target : path, flags, 0600);
	if (opened < 0)
		return output_error(errno, path);
	*fd = opened;
	return NULL;
}

void mt_output_discard(const char *path, int fd)
{
	MT_CLEANUP_FREE char *target = strcmp(path, "-") ? realpath(path, NULL) : NULL;
	struct stat made, there;

	if (!target || fstat(fd, &made) || stat(target, &there) || !S_ISREG(made.st_mode))
		return;
	if (made.st_dev == there.st_dev && made.st_ino == there.st_ino)
		unlink(target);
}
