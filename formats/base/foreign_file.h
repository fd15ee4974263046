/*
 * The one way to open a file whose path comes from outside: from a recording, debug information, a
 * target's mappings, or a user. Such a path may lead to a device or a FIFO, where open() alone has
 * side effects. It may also lead through a symbolic link to a file that only the process that
 * follows the link may read.
 *
 * The file is checked through an O_PATH descriptor, which opens nothing. Then the same file is
 * opened for reading. scripts/check-style rejects other calls of open().
 */
#ifndef MT_FORMATS_BASE_FOREIGN_FILE_H
#define MT_FORMATS_BASE_FOREIGN_FILE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum mt_foreign_links {
	MT_LINKS_ALL,	   /* for paths that the kernel made, or that the user named */
	MT_LINKS_TRUSTED,  /* links that root or this user owns; nothing below /proc and /sys */
	MT_LINKS_NOT_LAST, /* as MT_LINKS_TRUSTED, and the last component must not be a link */
};

/*
 * Opens a regular file for reading: O_CLOEXEC, O_NONBLOCK, O_NOCTTY. Returns -1 with errno: EINVAL
 * or EISDIR if the file is not regular, EPERM for a link that is not followed.
 *
 * root: a directory. Absolute paths start there, and neither ".." nor a link leads out of it.
 * AT_FDCWD: as for open(). MT_LINKS_ALL takes AT_FDCWD only.
 */
int mt_foreign_open(int root, const char *path, enum mt_foreign_links links, struct stat *status);

/* Checks the path in the same way without opening the file: 0, or -1 with errno. */
int mt_foreign_stat(int root, const char *path, enum mt_foreign_links links, struct stat *status);

/* The message for an errno of these functions. Valid until the next call. */
const char *mt_foreign_problem(int error);

/*
 * Reads `size` bytes at `at`, and continues after short reads and EINTR. Returns the number of
 * bytes read: fewer at the file's end or after an error.
 */
static inline size_t mt_read_at(int fd, uint64_t at, uint8_t *out, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(fd, out + got, size - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

#endif
