/* Reads whole pseudo files, whose size is not known in advance. */
#include "record/proc/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/records/record.h"
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

/* Opens a file of a formatted path; -1 with errno. */
static int open_formatted(int flags, const char *format, va_list ap)
{
	char path[PATH_MAX];
	int n = vsnprintf(path, sizeof(path), format, ap);

	if (n >= 0 && (size_t)n < sizeof(path))
		return open(path, flags | O_CLOEXEC);
	errno = ENAMETOOLONG;
	return -1;
}

int mt_openf(int flags, const char *format, ...)
{
	va_list ap;
	int fd;

	va_start(ap, format);
	fd = open_formatted(flags, format, ap);
	va_end(ap);
	return fd;
}

char *mt_read_textf(size_t *size, const char *format, ...)
{
	MT_CLEANUP_CLOSE int fd = -1;
	va_list ap;

	va_start(ap, format);
	fd = open_formatted(O_RDONLY, format, ap);
	va_end(ap);
	return fd < 0 ? NULL : read_all(fd, size);
}

const char *mt_find_line(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (!strncmp(text, name, length) && text[length] == ':')
			return text + length + 1 + strspn(text + length + 1, " \t");
	}
	return NULL;
}

bool mt_find_number(const char *text, const char *name, uint64_t *out)
{
	const char *line = text ? mt_find_line(text, name) : NULL;
	char *end;

	if (!line)
		return false;
	*out = strtoull(line, &end, 10);
	if (!strncmp(end, " kB", 3))
		*out <<= 10;
	return true;
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

/* Unescapes newlines in place. /proc/PID/maps writes a newline as \012 and escapes nothing else. */
static size_t unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool newline = !strncmp(from, "\\012", 4);

		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
	return (size_t)(to - path);
}

bool mt_map_line_get(char *line, struct mt_map_record *map)
{
	char perms[5];
	unsigned long long start, end, offset, inode;
	unsigned major, minor;
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perms, &offset, &major,
		   &minor, &inode, &path_at) < 7 ||
	    strlen(perms) != 4)
		return false;
	map->start = start;
	map->end = end;
	map->offset = offset;
	map->major = major;
	map->minor = minor;
	map->inode = inode;
	map->prot = (perms[0] == 'r' ? PROT_READ : 0u) | (perms[1] == 'w' ? PROT_WRITE : 0u) |
		    (perms[2] == 'x' ? PROT_EXEC : 0u);
	map->flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	map->path = (struct mt_text){.bytes = line + path_at, .size = unescape(line + path_at)};
	return true;
}
