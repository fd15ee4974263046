/*
 * The report's output file: a stdio stream over our own write function, which keeps the errno of
 * the first failure.
 */
#include "report/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"

enum {
	BUFFER_SIZE = 256 << 10,
	NAMES_TRIED = 16, /* temporary names to try */
};

static struct mt_error *failed(const char *path, int errnum)
{
	struct mt_error *err =
		mt_error_os(errnum, "%s: cannot write", path ? path : "standard output");

	if (err->kind == MT_ERR_OS)
		err->kind = MT_ERR_OUTPUT;
	return err;
}

static struct mt_outfile *opened;

static ssize_t write_all(void *cookie, const char *bytes, size_t size)
{
	struct mt_outfile *out = cookie;
	size_t done = 0;

	while (done < size && !out->errnum) {
		ssize_t n = write(out->fd, bytes + done, size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			out->errnum = errno;
	}
	return out->errnum ? 0 : (ssize_t)size;
}

/* Derives a name from `path` that no file has. */
static char *temporary_name(const char *path)
{
	char *name = mt_format("%s.XXXXXX", path);
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		unlink(name);
	}
	return name;
}

/*
 * Opens a file without a name in the folder of `path`. The file vanishes if this process is killed.
 * Returns -1 if the file system cannot create one.
 */
static int open_nameless(const char *path)
{
	MT_CLEANUP_FREE char *folder = mt_copy_string(path);
	char *slash = strrchr(folder, '/');

	if (slash)
		slash[slash == folder] = '\0';
	return open(slash ? folder : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

static struct mt_error *open_temporary(struct mt_outfile *out)
{
	MT_CLEANUP_FREE char *name = temporary_name(out->target);

	out->fd = open_nameless(out->target);
	out->nameless = out->fd >= 0;
	if (!out->nameless)
		out->fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (out->fd < 0)
		return failed(out->target, errno);
	out->temporary = MT_TAKE(name);
	return NULL;
}

/*
 * Links a nameless file under its temporary name. Chooses another name if a file of that name
 * exists by now: that file belongs to another program.
 */
static void name_file(struct mt_outfile *out)
{
	char self[64], *name;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", out->fd);
	for (int tries = 0; linkat(AT_FDCWD, self, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW);
	     tries++) {
		name = errno == EEXIST && tries < NAMES_TRIED ? temporary_name(out->target) : NULL;
		if (!name) {
			out->errnum = out->errnum ? out->errnum : errno;
			free(MT_TAKE(out->temporary));
			return;
		}
		free(out->temporary);
		out->temporary = name;
	}
	out->nameless = false;
}

/* Opens the output. Follows a link, such as /dev/stdout, and replaces the file that it leads to. */
static struct mt_error *open_fd(struct mt_outfile *out)
{
	struct stat st;
	bool there = out->path && !stat(out->path, &st);

	if (there && S_ISREG(st.st_mode))
		out->target = realpath(out->path, NULL);
	if (!out->path) {
		out->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else if (there && !out->target) { /* also if the path leads to a file that was deleted */
		out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
	} else {
		if (!out->target)
			out->target = mt_copy_string(out->path);
		return open_temporary(out);
	}
	return out->fd < 0 ? failed(out->path, errno) : NULL;
}

struct mt_error *mt_outfile_open(const char *path, struct mt_outfile *out)
{
	static const cookie_io_functions_t functions = {.write = write_all};
	struct mt_error *err;

	*out = (struct mt_outfile){.fd = -1};
	if (path && strcmp(path, "-") != 0)
		out->path = path;
	err = open_fd(out);
	if (err) {
		free(MT_TAKE(out->target));
		return err;
	}
	out->file = fopencookie(out, "w", functions);
	if (!out->file)
		mt_memory_failed();
	setvbuf(out->file, NULL, _IOFBF, BUFFER_SIZE);
	opened = out;
	return NULL;
}

static struct mt_error *put_in_place(struct mt_outfile *out)
{
	MT_CLEANUP_FREE char *old = mt_format("%s.old", out->target);

	if (rename(out->target, old) && errno != ENOENT)
		return failed(out->path, errno);
	if (rename(out->temporary, out->target))
		return failed(out->path, errno);
	free(MT_TAKE(out->temporary));
	return NULL;
}

struct mt_error *mt_outfile_commit(struct mt_outfile *out)
{
	struct mt_error *err = NULL;

	fclose(MT_TAKE(out->file));
	if (out->nameless)
		name_file(out);
	if (close(out->fd) && !out->errnum)
		out->errnum = errno;
	out->fd = -1;
	if (out->errnum)
		err = failed(out->path, out->errnum);
	else if (out->temporary)
		err = put_in_place(out);
	mt_outfile_abandon(out);
	return err;
}

void mt_outfile_unlink_open(void)
{
	if (opened && opened->temporary && !opened->nameless)
		unlink(opened->temporary);
}

void mt_outfile_abandon(struct mt_outfile *out)
{
	opened = opened == out ? NULL : opened;
	if (out->file)
		fclose(MT_TAKE(out->file));
	if (out->fd >= 0)
		close(out->fd);
	out->fd = -1;
	if (out->temporary && !out->nameless)
		unlink(out->temporary);
	free(MT_TAKE(out->temporary));
	free(MT_TAKE(out->target));
}
