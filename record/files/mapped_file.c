/* Opens mapped files. Reads only regular files, whatever file has the path now. */
#include "record/files/mapped_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/foreign_file.h"
#include "record/files/memory_image.h"
#include "record/proc/procfs.h"

#define DELETED " (deleted)"

/* Opens the path if it is the mapped inode; ESTALE if it is another one. */
static int open_same(int root, const char *path, enum mt_foreign_links links,
		     const struct mt_mapped_file *file, struct stat *status)
{
	int fd = mt_foreign_open(root, path, links, status);

	if (fd >= 0 && (!file->inode || status->st_ino == file->inode))
		return fd;
	if (fd >= 0) {
		close(fd);
		errno = ESTALE;
	}
	return -1;
}

static int open_root(const struct mt_mapped_file *file)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", file->pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Opens the mapping's path in the process's mount namespace. The kernel resolved all links in that
 * path, so a link in it is newer than the mapping.
 */
static int open_in_its_root(const struct mt_mapped_file *file, const char *path,
			    struct stat *status)
{
	MT_CLEANUP_CLOSE int root = open_root(file);

	return root < 0 ? -1 : open_same(root, path, MT_LINKS_TRUSTED, file, status);
}

size_t mt_mapped_file_live_length(const struct mt_text *path)
{
	size_t tail = strlen(DELETED);

	return path->size > tail && !memcmp(path->bytes + path->size - tail, DELETED, tail)
		       ? path->size - tail
		       : path->size;
}

int mt_mapped_file_open(const struct mt_mapped_file *file, struct stat *status)
{
	char path[PATH_MAX + 64];
	int fd, length = (int)mt_mapped_file_live_length(&file->path), why;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", file->pid,
		 (unsigned long long)file->start, (unsigned long long)file->end);
	fd = open_same(AT_FDCWD, path, MT_LINKS_ALL, file, status);
	if (fd < 0 && file->inode) {
		snprintf(path, sizeof(path), "/proc/%d/exe", file->pid);
		fd = open_same(AT_FDCWD, path, MT_LINKS_ALL, file, status);
	}
	snprintf(path, sizeof(path), "%.*s", length, file->path.bytes);
	if (fd < 0)
		fd = open_in_its_root(file, path, status);
	why = errno;
	if (fd < 0) {
		fd = open_same(AT_FDCWD, path, MT_LINKS_TRUSTED, file, status);
		why = why == ESTALE ? why : errno;
	}
	if (fd < 0)
		fd = mt_memory_image(file, status);
	if (fd < 0)
		errno = why;
	return fd;
}

/* True if both paths can be examined and are different files. */
static bool differs(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && (x.st_dev != y.st_dev || x.st_ino != y.st_ino);
}

bool mt_mapped_file_is_elsewhere(const struct mt_mapped_file *file)
{
	char names[64], root[64];

	snprintf(names, sizeof(names), "/proc/%d/ns/mnt", file->pid);
	snprintf(root, sizeof(root), "/proc/%d/root/", file->pid);
	return differs(names, "/proc/self/ns/mnt") || differs(root, "/");
}

/* True if the process runs the mapped file; *program: that file. */
static bool is_program(const struct mt_mapped_file *file, struct stat *program)
{
	char exe[64], path[PATH_MAX];
	ssize_t size;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", file->pid);
	size = readlink(exe, path, sizeof(path));
	return size > 0 && (size_t)size == file->path.size &&
	       !memcmp(path, file->path.bytes, file->path.size) && !stat(exe, program);
}

void mt_mapped_file_started(const struct mt_mapped_file *file, char out[MT_STARTED_SIZE])
{
	char path[PATH_MAX + MT_STARTED_SIZE];
	MT_CLEANUP_FREE char *comm = NULL;
	MT_CLEANUP_CLOSE int root = -1;
	struct stat program, named;
	size_t size, directory;

	*out = '\0';
	if (!is_program(file, &program))
		return;
	comm = mt_read_textf(&size, "/proc/%d/comm", file->pid);
	if (!comm || size < 2 || size > MT_STARTED_SIZE || strchr(comm, '/'))
		return;
	comm[size - 1] = '\0'; /* drops the newline */
	snprintf(path, sizeof(path), "%.*s", (int)file->path.size, file->path.bytes);
	directory = (size_t)(strrchr(path, '/') + 1 - path);
	if (!strcmp(path + directory, comm))
		return;
	memcpy(path + directory, comm, size);
	root = open_root(file);
	if (root >= 0 && !mt_foreign_stat(root, path, MT_LINKS_TRUSTED, &named) &&
	    named.st_dev == program.st_dev && named.st_ino == program.st_ino)
		memcpy(out, comm, size);
}

const uint8_t *mt_own_vdso(size_t *size)
{
	const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	Elf64_Ehdr header;

	if (!base)
		return NULL;
	memcpy(&header, base, sizeof(header));
	*size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	return base;
}
