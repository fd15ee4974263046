/* Opens files and pipes for reading; does not interpret their bytes. */
#include "formats/reading/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/pages.h"

#define COPY_SIZE 65536
#define GROW_PIECES 256		   /* multiples of COPY_SIZE that a pipe's reader reads at once */
#define FAULT_SIZE ((size_t)65536) /* bytes of a file that the kernel maps around a fault */
#define BRING_PARTS 64
#ifndef SYS_process_madvise
#define SYS_process_madvise 440 /* the same everywhere; headers before Linux 5.10 lack it */
#endif
#define OWN_PROCESS (-10001) /* PIDFD_SELF_THREAD_GROUP of Linux 6.15 */

static ssize_t read_some(int fd, void *bytes, size_t size)
{
	ssize_t n;

	do
		n = read(fd, bytes, size);
	while (n < 0 && errno == EINTR);
	return n;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		size -= (size_t)n;
	}
	return true;
}

/* An unlinked file in the directory for temporary files, or -1 with errno. */
static int temporary_file(void)
{
	const char *dir = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (snprintf(name, sizeof(name), "%s/mtreport-XXXXXX", dir) >= (int)sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

static struct mt_error *no_room(void)
{
	return mt_error_hint(mt_error_os(errno, "copying it to a temporary file"),
			     "set TMPDIR to a directory with more room, or give a file");
}

static struct mt_error *copy_stream(int from, int to, uint64_t *size)
{
	char bytes[COPY_SIZE];
	ssize_t n;

	*size = 0;
	while ((n = read_some(from, bytes, sizeof(bytes))) > 0) {
		if (!write_all(to, bytes, (size_t)n))
			return no_room();
		*size += (uint64_t)n;
	}
	return n < 0 ? mt_error_os(errno, "reading") : NULL;
}

static struct mt_error *input_copy(int from, struct mt_input *out)
{
	MT_CLEANUP_CLOSE int fd = temporary_file();
	struct mt_error *err;
	uint64_t size;

	if (fd < 0)
		return mt_error_os(errno, "making a temporary file to read a pipe");
	err = copy_stream(from, fd, &size);
	if (err)
		return err;
	*out = (struct mt_input){.fd = fd, .size = size, .pipe = -1};
	fd = -1;
	return NULL;
}

/* Takes ownership of the pipe *from, whose bytes mt_input_grow() copies to a temporary file. */
static struct mt_error *copy_later(int *from, struct mt_input *out)
{
	int fd = temporary_file();

	if (fd < 0)
		return mt_error_os(errno, "making a temporary file to read a pipe");
	*out = (struct mt_input){.fd = fd, .pipe = *from};
	*from = -1;
	return NULL;
}

static struct mt_error *refuse_directory(int fd)
{
	struct mt_error *err = mt_error_create(MT_ERR_FORMAT, "is a directory, not a recording");

	if (faccessat(fd, "data.0", F_OK, 0))
		return err;
	return mt_error_hint(err,
			     "perf record --threads makes such directories: record without it");
}

static struct mt_error *refuse(mode_t mode, int fd)
{
	if (S_ISDIR(mode))
		return refuse_directory(fd);
	if (isatty(fd))
		return mt_error_create(MT_ERR_USAGE, "is a terminal: give a file or a pipe");
	return mt_error_create(MT_ERR_FORMAT, "is a device, not a recording");
}

/*
 * Opens with O_NONBLOCK, so that a named pipe without a writer counts as empty instead of blocking.
 * The flag is cleared before the first read, so that reads wait for a writer that exists.
 */
static int open_path(const char *path)
{
	int fd;

	if (!strcmp(path, "-"))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		fcntl(fd, F_SETFL, O_RDONLY);
	return fd;
}

static struct mt_error *input_open(const char *path, bool grows, struct mt_input *out)
{
	MT_CLEANUP_CLOSE int fd = open_path(path);
	struct stat st;

	if (fd < 0)
		return mt_error_os(errno, "opening");
	if (fstat(fd, &st))
		return mt_error_os(errno, "stat");
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return grows ? copy_later(&fd, out) : input_copy(fd, out);
	if (!S_ISREG(st.st_mode))
		return refuse(st.st_mode, fd);
	*out = (struct mt_input){.fd = fd, .size = (uint64_t)st.st_size, .pipe = -1};
	fd = -1;
	return NULL;
}

struct mt_error *mt_input_open(const char *path, struct mt_input *out)
{
	return input_open(path, false, out);
}

struct mt_error *mt_input_open_growing(const char *path, struct mt_input *out)
{
	return input_open(path, true, out);
}

static struct mt_error *grow_by_pipe(struct mt_input *input, bool *ended)
{
	struct pollfd readable = {.fd = input->pipe, .events = POLLIN};
	char bytes[COPY_SIZE];

	for (int i = 0; i < GROW_PIECES && poll(&readable, 1, 0) > 0; i++) {
		ssize_t n = read_some(input->pipe, bytes, sizeof(bytes));

		*ended = !n;
		if (n <= 0)
			return n ? mt_error_os(errno, "reading") : NULL;
		if (!write_all(input->fd, bytes, (size_t)n))
			return no_room();
		input->size += (uint64_t)n;
	}
	return NULL;
}

static struct mt_error *grow_by_file(struct mt_input *input, const char *path)
{
	struct stat own, there;

	if (fstat(input->fd, &own))
		return mt_error_os(errno, "stat");
	if ((uint64_t)own.st_size < input->size)
		return mt_error_create(MT_ERR_FORMAT, "was truncated while it was read");
	if (strcmp(path, "-") != 0 &&
	    (stat(path, &there) || there.st_dev != own.st_dev || there.st_ino != own.st_ino))
		return mt_error_create(MT_ERR_FORMAT, "was removed or replaced while it was read");
	input->size = (uint64_t)own.st_size;
	return NULL;
}

struct mt_error *mt_input_grow(struct mt_input *input, const char *path, bool *ended)
{
	*ended = false;
	return input->pipe >= 0 ? grow_by_pipe(input, ended) : grow_by_file(input, path);
}

void mt_input_deinit(struct mt_input *input)
{
	mt_close_p(&input->fd);
	mt_close_p(&input->pipe);
	input->fd = input->pipe = -1;
}

struct mt_error *mt_input_read(const struct mt_input *input, uint64_t offset, void *bytes,
			       size_t size, size_t *got)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n =
			pread(input->fd, (char *)bytes + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mt_error_os(errno, "reading at %llu",
					   (unsigned long long)(offset + done));
		if (!n)
			break;
		done += (size_t)n;
	}
	*got = done;
	return NULL;
}

/*
 * Asks the kernel in one call to map the first page of each FAULT_SIZE bytes and the pages around
 * it. False before Linux 6.15 or so. (6.13 takes a descriptor of the process, which costs 7 us.)
 */
static bool bring_pages(const char *bytes, size_t size)
{
	struct iovec parts[BRING_PARTS];
	size_t at = 0, n;

	while (at < size) {
		for (n = 0; n < BRING_PARTS && at < size; at += FAULT_SIZE)
			parts[n++] = (struct iovec){(void *)(bytes + at), MT_PAGE_MIN};
		if (syscall(SYS_process_madvise, OWN_PROCESS, parts, n, MADV_POPULATE_READ, 0) < 0)
			return false;
	}
	return true;
}

/*
 * A fault mostly maps 16 pages around the address. MAP_POPULATE visits every page separately, which
 * costs more if all pages are in memory, and no less if they are not. So the pages are faulted in
 * here, one group after the other. Later these faults would delay other work, and a prefetch of an
 * unmapped page has no effect.
 */
const void *mt_input_map(const struct mt_input *input, uint64_t offset, size_t size)
{
	void *bytes;

	if (offset > input->size || size > input->size - offset)
		return NULL;
	bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, input->fd, (off_t)offset);
	if (bytes == MAP_FAILED)
		return NULL;
	for (size_t at = bring_pages(bytes, size) ? size : 0; at < size; at += FAULT_SIZE)
		(void)((const volatile char *)bytes)[at];
	return bytes;
}

void mt_input_unmap(const void *bytes, size_t size)
{
	munmap((void *)bytes, size);
}
