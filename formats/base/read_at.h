/*
 * pread() that continues after short reads and EINTR.
 */
#ifndef MT_FORMATS_BASE_READ_AT_H
#define MT_FORMATS_BASE_READ_AT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* Reads up to `size` bytes at `at`; fewer at the file's end or after an error. */
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
