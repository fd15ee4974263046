/*
 * The report's output file.
 */
#include "report/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"

static const char *name_of(const struct mt_outfile *out)
{
	return out->path ? out->path : "standard output";
}

static struct mt_error *failed(const struct mt_outfile *out, int errnum)
{
	struct mt_error *err = mt_error_os(errnum, "%s: cannot write", name_of(out));

	if (err->kind == MT_ERR_OS)
		err->kind = MT_ERR_OUTPUT;
	return err;
}

static struct mt_error *open_directly(struct mt_outfile *out)
{
	out->file = fopen(out->path, "we");
	return out->file ? NULL : failed(out, errno);
}

static struct mt_error *open_temporary(struct mt_outfile *out)
{
	MT_CLEANUP_FREE char *name = NULL;
	int fd;

	if (asprintf(&name, "%s.XXXXXX", out->path) < 0) {
		name = NULL;
		return mt_error_nomem();
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return failed(out, errno);
	out->file = fdopen(fd, "w");
	if (!out->file) {
		close(fd);
		unlink(name);
		return mt_error_nomem();
	}
	out->temporary = MT_TAKE(name);
	return NULL;
}

struct mt_error *mt_outfile_open(const char *path, FILE *standard, struct mt_outfile *out)
{
	struct stat st;

	*out = (struct mt_outfile){0};
	if (!path || !strcmp(path, "-")) {
		out->file = standard;
		return NULL;
	}
	out->path = path;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return open_directly(out);
	return open_temporary(out);
}

static struct mt_error *put_in_place(struct mt_outfile *out)
{
	MT_CLEANUP_FREE char *old = NULL;

	if (asprintf(&old, "%s.old", out->path) < 0) {
		old = NULL;
		return mt_error_nomem();
	}
	if (rename(out->path, old) && errno != ENOENT)
		return failed(out, errno);
	if (rename(out->temporary, out->path))
		return failed(out, errno);
	free(MT_TAKE(out->temporary));
	return NULL;
}

/* Why an earlier write failed, which nobody kept: a pipe that nobody reads shows. */
static int guess_errno(FILE *file)
{
	struct pollfd poll_fd = {.fd = fileno(file), .events = POLLOUT};

	return poll(&poll_fd, 1, 0) == 1 && poll_fd.revents & POLLERR ? EPIPE : EIO;
}

struct mt_error *mt_outfile_commit(struct mt_outfile *out)
{
	struct mt_error *err = NULL;
	FILE *file = MT_TAKE(out->file);

	if (ferror(file))
		err = failed(out, guess_errno(file));
	else if (fflush(file))
		err = failed(out, errno);
	if (out->path && fclose(file) && !err)
		err = failed(out, errno);
	if (!err && out->temporary)
		err = put_in_place(out);
	if (err)
		mt_outfile_abandon(out);
	return err;
}

void mt_outfile_abandon(struct mt_outfile *out)
{
	if (out->file && out->path)
		fclose(out->file);
	if (out->temporary) {
		unlink(out->temporary);
		free(out->temporary);
	}
	*out = (struct mt_outfile){0};
}
