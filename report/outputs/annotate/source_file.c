/*
 * Reads a source file whole. Its path comes from debug information, so it may lead anywhere: only
 * regular files of a bounded size are read.
 */
#include "report/outputs/annotate/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/array.h"
#include "formats/base/read_at.h"

enum {
	SIZE_MOST = 32 << 20,
};

/* The path with its beginning replaced; NULL out of memory. */
static char *moved_path(const char *path, const struct mt_source_paths *paths)
{
	char *moved = NULL;

	for (size_t i = 0; i < paths->count; i++) {
		const struct mt_source_path *p = &paths->items[i];

		if (strncmp(path, p->from, p->from_size) != 0)
			continue;
		if (asprintf(&moved, "%s%s", p->to, path + p->from_size) < 0)
			return NULL;
		return moved;
	}
	return strdup(path);
}

/* Why the file is not read, or NULL with its text. */
static const char *read_text(struct mt_source_file *file, int fd)
{
	struct stat st;
	size_t size;

	if (fd < 0 || fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "not a regular file";
	if (st.st_size > SIZE_MOST)
		return "larger than 32 MB";
	file->text = malloc((size_t)st.st_size + 1);
	if (!file->text)
		return NULL;
	size = mt_read_at(fd, 0, (uint8_t *)file->text, (size_t)st.st_size);
	file->text[size] = '\0';
	file->written = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	if (strlen(file->text) == size)
		return NULL;
	free(file->text);
	file->text = NULL;
	return "not a text file";
}

/* Ends each line in the text; false out of memory. */
static bool split_lines(struct mt_source_file *file)
{
	MT_ARRAY(char *) lines = {0};

	for (char *at = file->text; at && *at;) {
		char **line = mt_array_push(&lines), *end = strchr(at, '\n');

		if (!line) {
			mt_array_deinit(&lines);
			return false;
		}
		*line = at;
		if (end)
			*end++ = '\0';
		at = end;
	}
	file->lines = lines.items;
	file->count = lines.count;
	return true;
}

void mt_source_file_read(const char *path, const struct mt_source_paths *paths,
			 struct mt_source_file *out)
{
	int fd;

	*out = (struct mt_source_file){.path = moved_path(path, paths)};
	if (!out->path)
		return;
	fd = open(out->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	out->why = read_text(out, fd);
	if (fd >= 0)
		close(fd);
	if (out->text && !split_lines(out)) {
		free(out->text);
		out->text = NULL;
	}
}

void mt_source_file_deinit(struct mt_source_file *file)
{
	free(file->path);
	free(file->text);
	free(file->lines);
	*file = (struct mt_source_file){0};
}
