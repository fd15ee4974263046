/* Reads whole pseudo files, whose size is not known in advance. */
#include "record/proc/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "record/proc/numbers.h"

#define TEXT_MAX ((size_t)64 << 20)

static char *read_all(int fd, size_t *size)
{
	MT_CLEANUP_FREE char *text = NULL;
	size_t used = 0, capacity = 0;
	ssize_t n;

	do {
		if (used + 1 >= capacity) {
			char *grown = realloc(text, capacity ? capacity * 2 : 4096);

			if (!grown || capacity > TEXT_MAX) {
				errno = grown ? EFBIG : ENOMEM;
				text = grown ? grown : text;
				return NULL;
			}
			text = grown;
			capacity = capacity ? capacity * 2 : 4096;
		}
		n = read(fd, text + used, capacity - used - 1);
		if (n < 0 && errno != EINTR)
			return NULL;
		used += n > 0 ? (size_t)n : 0;
	} while (n);
	text[used] = '\0';
	if (size)
		*size = used;
	return MT_TAKE(text);
}

char *mt_read_text_at(int dir, const char *path, size_t *size)
{
	MT_CLEANUP_CLOSE int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? NULL : read_all(fd, size);
}

char *mt_read_text(const char *path, size_t *size)
{
	return mt_read_text_at(AT_FDCWD, path, size);
}

char *mt_read_textf(size_t *size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(path, sizeof(path), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return mt_read_text(path, size);
}

long mt_read_number(const char *path, long fallback)
{
	MT_CLEANUP_FREE char *text = mt_read_text(path, NULL);
	char *end;
	long number;

	if (!text)
		return fallback;
	number = strtol(text, &end, 10);
	return end == text ? fallback : number;
}

bool mt_each_number(const char *path, void (*each)(void *context, pid_t number), void *context)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		uint64_t number;

		if (mt_parse_u64(entry->d_name, &number))
			each(context, (pid_t)number);
	}
	if (!directory)
		return false;
	closedir(directory);
	return true;
}
