/*
 * Opens the output. An earlier recording is renamed, not truncated, because freeing the blocks of a
 * large file would delay the start.
 */
#include "record/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"

#define ELSEWHERE "-o FILE chooses another place"
#define LINKS_MAX 40 /* the kernel's limit */
#define READER_MS 20 /* interval of attempts to open a FIFO */

static struct mt_error *output_error(int errnum, const char *path)
{
	struct mt_error *err = mt_error_os(errnum, "cannot write %s", path);

	if (err->kind != MT_ERR_NOMEM)
		err->kind = MT_ERR_OUTPUT;
	return mt_error_hint(err, ELSEWHERE);
}

static bool is_pipe(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISFIFO(status.st_mode);
}

/* The place of an output: a name in an open folder. Later changes of the path have no effect. */
struct place {
	int dir;
	char name[NAME_MAX + 1];
	struct stat status; /* status of an existing file; links are followed only in procfs */
	bool there;
	bool in_procfs; /* links of procfs cannot be read as text; the kernel must follow them */
};

static void place_deinit(struct place *place)
{
	mt_close_p(&place->dir);
}

/*
 * Resolves `path`, relative to the current dir, and sets dir and name to the result. False with
 * errno.
 */
static bool step(struct place *place, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	MT_CLEANUP_FREE char *folder =
		slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	struct statfs fs;
	int dir;

	if (!folder || strlen(name) > NAME_MAX) {
		errno = folder ? ENAMETOOLONG : ENOMEM;
		return false;
	}
	dir = openat(place->dir, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return false;
	if (place->dir >= 0)
		close(place->dir);
	place->dir = dir;
	snprintf(place->name, sizeof(place->name), "%s", *name ? name : ".");
	place->in_procfs = !fstatfs(dir, &fs) && fs.f_type == PROC_SUPER_MAGIC;
	return true;
}

/*
 * Returns true if another user created the file in a folder that everybody may write to. The
 * recorder must not follow, rename or write to such a file. This is the kernel's rule for links
 * (fs.protected_symlinks), extended to FIFOs and files.
 */
static bool is_planted(const struct place *place)
{
	struct stat dir;

	return !fstat(place->dir, &dir) && (dir.st_mode & S_ISVTX) &&
	       (dir.st_mode & (S_IWGRP | S_IWOTH)) && place->status.st_uid != geteuid() &&
	       place->status.st_uid != 0;
}

/* Follows links and checks each by is_planted(). The target of a link need not exist. */
static struct mt_error *find_place(const char *path, struct place *out)
{
	MT_CLEANUP(place_deinit) struct place place = {.dir = AT_FDCWD};
	char target[PATH_MAX];
	const char *next = path;

	for (int links = 0; links <= LINKS_MAX; links++) {
		ssize_t size;

		if (!step(&place, next))
			return output_error(errno, path);
		place.there = !fstatat(place.dir, place.name, &place.status,
				       place.in_procfs ? 0 : AT_SYMLINK_NOFOLLOW);
		if (place.there && is_planted(&place))
			return mt_error_hint(
				mt_error_create(MT_ERR_OUTPUT,
						"cannot write %s: another user put it there", path),
				ELSEWHERE);
		if (!place.there || !S_ISLNK(place.status.st_mode)) {
			*out = place;
			place.dir = -1;
			return NULL;
		}
		size = readlinkat(place.dir, place.name, target, sizeof(target) - 1);
		if (size <= 0)
			return output_error(errno, path);
		target[size] = '\0';
		next = target;
	}
	return output_error(ELOOP, path);
}

/*
 * Waits for a reader of the FIFO or for a signal. Signals are blocked, so a blocking open() would
 * not notice them.
 */
static struct mt_error *open_fifo(const struct place *place, const char *path, int signals, int *fd)
{
	struct pollfd given_up = {.fd = signals, .events = POLLIN};
	int flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | (place->in_procfs ? 0 : O_NOFOLLOW), opened;

	while ((opened = openat(place->dir, place->name, flags)) < 0) {
		if (errno != ENXIO)
			return output_error(errno, path);
		if (poll(&given_up, 1, READER_MS) > 0)
			return mt_error_hint(mt_error_create(MT_ERR_OUTPUT,
							     "cannot write %s: nobody read it yet",
							     path),
					     ELSEWHERE);
	}
	*fd = opened;
	return NULL;
}

static struct mt_error *open_stdout(int *fd)
{
	int copy;

	if (isatty(STDOUT_FILENO))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "a recording is not for a terminal"),
				     "send it to a file or a pipe: mtrec -o - ... | cat > FILE");
	/*
	 * open a pipe again, to avoid blocking on a reader that has stopped; O_NONBLOCK on the
	 * shared pipe would affect other writers
	 */
	copy = is_pipe(STDOUT_FILENO) ? open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
				      : -1;
	if (copy < 0)
		copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return output_error(errno, "standard output");
	*fd = copy;
	return NULL;
}

/* Renames the file to NAME.old. path is used in the message. */
static struct mt_error *keep_as_old(const struct place *place, const char *path)
{
	char old[NAME_MAX + 8];
	MT_CLEANUP_FREE char *reported = NULL;

	snprintf(old, sizeof(old), "%s.old", place->name);
	if (!renameat(place->dir, place->name, place->dir, old))
		return NULL;
	reported = mt_format("%s.old", path);
	if (!reported)
		return mt_error_nomem();
	return output_error(errno, reported);
}

struct mt_error *mt_output_open(const char *path, int signals, int *fd)
{
	MT_CLEANUP(place_deinit) struct place place = {.dir = -1};
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, opened;
	struct mt_error *err;

	if (!strcmp(path, "-"))
		return open_stdout(fd);
	err = find_place(path, &place);
	if (err)
		return err;
	if (place.there && S_ISFIFO(place.status.st_mode))
		return open_fifo(&place, path, signals, fd);
	if (place.in_procfs)
		flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_APPEND;
	else if (!place.there || S_ISREG(place.status.st_mode))
		flags |= O_CREAT | O_EXCL;
	if (place.there && (flags & O_EXCL))
		err = keep_as_old(&place, path);
	if (err)
		return err;
	opened = openat(place.dir, place.name, flags, 0600);
	if (opened < 0)
		return output_error(errno, path);
	*fd = opened;
	return NULL;
}

void mt_output_discard(const char *path, int fd)
{
	MT_CLEANUP(place_deinit) struct place place = {.dir = -1};
	struct mt_error *err = strcmp(path, "-") ? find_place(path, &place) : NULL;
	struct stat made;

	mt_error_destroy(err);
	if (place.dir < 0 || place.in_procfs || !place.there || fstat(fd, &made) ||
	    !S_ISREG(made.st_mode))
		return;
	if (made.st_dev == place.status.st_dev && made.st_ino == place.status.st_ino)
		unlinkat(place.dir, place.name, 0);
}
