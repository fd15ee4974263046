/* The control protocol: one command per line. perf's clients end a line with NUL. */
#include "record/cli/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/proc/numbers.h"

/*
 * Opens the FIFO for reading and writing, so that open() does not wait and reading never reaches
 * end of file.
 */
static struct mt_error *open_fifo(const char *path, int *out)
{
	MT_CLEANUP_CLOSE int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return mt_error_hint(mt_error_os(errno, "--control: cannot open %s", path),
				     "mkfifo %s makes the FIFO", path);
	if (fstat(fd, &status) || !S_ISFIFO(status.st_mode))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--control: %s is no FIFO",
						     path),
				     "mkfifo makes one");
	*out = fd;
	fd = -1;
	return NULL;
}

static struct mt_error *take_descriptor(const char *text, int *out)
{
	uint64_t number;

	if (!mt_parse_u64(text, &number) || number > INT_MAX)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "--control: '%s' is no number of a descriptor",
						     text),
				     "write fd:N or fd:N,M with open descriptors");
	if (fcntl((int)number, F_SETFD, FD_CLOEXEC))
		return mt_error_hint(
			mt_error_create(MT_ERR_USAGE, "--control: descriptor %s: %s", text,
					strerror(errno)),
			"the caller opens it, as in: mtrec --control fd:10 ... 10<commands");
	*out = (int)number;
	return NULL;
}

struct mt_error *mt_control_open(const char *text, struct mt_control *out)
{
	bool fifo = !strncmp(text, "fifo:", 5);
	struct mt_error *(*get)(const char *, int *) = fifo ? open_fifo : take_descriptor;
	MT_CLEANUP_FREE char *first = strdup(strchr(text, ':') + 1);
	char *comma = first ? strchr(first, ',') : NULL;
	struct mt_control control = {.in = -1, .ack = -1};
	struct mt_error *err;

	if (!first)
		return mt_error_nomem();
	if (comma)
		*comma = '\0';
	err = get(first, &control.in);
	if (!err && comma)
		err = get(comma + 1, &control.ack);
	if (err) {
		mt_control_close(&control);
		return err;
	}
	*out = control;
	return NULL;
}

void mt_control_close(struct mt_control *control)
{
	mt_close_p(&control->in);
	mt_close_p(&control->ack);
	control->in = control->ack = -1;
}

bool mt_control_read(struct mt_control *control)
{
	size_t room = sizeof(control->pending) - control->pending_size;
	ssize_t n = read(control->in, control->pending + control->pending_size, room);

	if (n > 0)
		control->pending_size += (size_t)n;
	if (!n && room && control->pending_size) /* the last line may have no newline */
		control->pending[control->pending_size++] = '\n';
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/*
 * Moves the next line from the pending bytes to control->line. False if there is none. A full
 * buffer without a newline is a line, too.
 */
static bool take_line(struct mt_control *control)
{
	size_t size = 0, kept;

	while (size < control->pending_size && control->pending[size] &&
	       control->pending[size] != '\n')
		size++;
	if (size == control->pending_size && size < sizeof(control->pending))
		return false;
	kept = size < sizeof(control->line) ? size : sizeof(control->line) - 1;
	memcpy(control->line, control->pending, kept);
	control->line[kept] = '\0';
	size += size < control->pending_size;
	control->pending_size -= size;
	memmove(control->pending, control->pending + size, control->pending_size);
	return true;
}

enum mt_control_command mt_control_take(struct mt_control *control)
{
	static const char *const words[] = {
		[MT_CONTROL_ENABLE] = "enable",
		[MT_CONTROL_DISABLE] = "disable",
		[MT_CONTROL_PING] = "ping",
		[MT_CONTROL_STOP] = "stop",
	};

	do {
		if (!take_line(control))
			return MT_CONTROL_NONE;
	} while (!*control->line); /* perf's clients write a NUL after the newline */
	for (int i = MT_CONTROL_ENABLE; i <= MT_CONTROL_STOP; i++) {
		if (!strcmp(control->line, words[i]))
			return (enum mt_control_command)i;
	}
	return MT_CONTROL_UNKNOWN;
}

/* Polls first, because the caller's descriptor may block and have no reader. */
void mt_control_ack(struct mt_control *control)
{
	struct pollfd room = {.fd = control->ack, .events = POLLOUT};

	if (control->ack >= 0 && poll(&room, 1, 0) == 1 && room.revents & POLLOUT)
		(void)!write(control->ack, "ack\n", 4);
}
