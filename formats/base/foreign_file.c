/*
 * Follows a path component by component where symbolic links are untrusted; elsewhere the kernel
 * follows it.
 */
#include "formats/base/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "formats/base/cleanup.h"

enum {
	LINKS_MOST = 40, /* followed in one path, as in the kernel */
};

/* A path being followed. */
struct walk {
	int root;
	int at; /* O_PATH descriptor of the file reached so far */
	struct stat status;
	struct stat root_status;
	char rest[PATH_MAX]; /* part of the path that is not followed yet */
	unsigned int links;
	enum mt_foreign_links follow;
};

static bool is_trusted(const struct stat *status)
{
	return !status->st_uid || status->st_uid == geteuid();
}

/* Takes ownership of fd, which becomes the file reached so far. */
static bool reach(struct walk *walk, int fd)
{
	if (fd < 0)
		return false;
	mt_close_p(&walk->at);
	walk->at = fd;
	return !fstat(fd, &walk->status);
}

static bool reach_root(struct walk *walk)
{
	return reach(walk, openat(walk->root, ".", O_PATH | O_CLOEXEC));
}

/* Puts the target of the link at fd in front of the remaining path. */
static bool follow_link(struct walk *walk, int fd, const struct stat *link)
{
	char target[PATH_MAX];
	size_t left = strlen(walk->rest);
	ssize_t size;

	errno = EPERM;
	if (!is_trusted(link) || (walk->follow == MT_LINKS_NOT_LAST && !left))
		return false;
	errno = ELOOP;
	if (++walk->links > LINKS_MOST)
		return false;
	size = readlinkat(fd, "", target, sizeof(target));
	if (size < 0)
		return false;
	errno = ENAMETOOLONG;
	if ((size_t)size + left + 2 > sizeof(walk->rest))
		return false;
	memmove(walk->rest + size + 1, walk->rest, left + 1);
	memcpy(walk->rest, target, (size_t)size);
	walk->rest[size] = '/';
	return *target != '/' || reach_root(walk);
}

/* Cuts the next component off the remaining path; false if there is none. */
static bool next_part(struct walk *walk, char part[NAME_MAX + 1], size_t *length)
{
	const char *from = walk->rest + strspn(walk->rest, "/");

	*length = strcspn(from, "/");
	if (*length <= NAME_MAX)
		snprintf(part, NAME_MAX + 1, "%.*s", (int)*length, from);
	memmove(walk->rest, from + *length, strlen(from + *length) + 1);
	return *length;
}

static bool step(struct walk *walk, const char *part)
{
	MT_CLEANUP_CLOSE int fd = -1;
	struct stat status;
	int given;

	if (!strcmp(part, "..") && walk->status.st_ino == walk->root_status.st_ino &&
	    walk->status.st_dev == walk->root_status.st_dev)
		return true;
	fd = openat(walk->at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		return false;
	if (S_ISLNK(status.st_mode))
		return follow_link(walk, fd, &status);
	given = fd;
	fd = -1;
	return reach(walk, given);
}

static bool follow_path(struct walk *walk)
{
	char part[NAME_MAX + 1];
	size_t length;

	while (next_part(walk, part, &length)) {
		if (length > NAME_MAX) {
			errno = ENAMETOOLONG;
			return false;
		}
		if (!step(walk, part))
			return false;
	}
	return true;
}

/* The O_PATH descriptor of the file that the path leads to; -1 with errno. */
static int walk_path(int root, const char *path, enum mt_foreign_links links)
{
	struct walk walk = {.root = root, .at = -1, .follow = links};
	MT_CLEANUP_CLOSE int slash = -1;
	bool reached;
	int error;

	if (root == AT_FDCWD && *path == '/')
		walk.root = slash = openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	errno = ENAMETOOLONG;
	reached = strlen(path) < sizeof(walk.rest) && reach_root(&walk);
	if (reached) {
		walk.root_status = walk.status;
		memcpy(walk.rest, path, strlen(path) + 1);
		reached = follow_path(&walk);
	}
	if (reached)
		return walk.at;
	error = errno;
	mt_close_p(&walk.at);
	errno = error;
	return -1;
}

/*
 * Files of these file systems are regular by name only: a read may have side effects or never end.
 */
static bool is_kernel_made(int fd)
{
	struct statfs system;

	return !fstatfs(fd, &system) &&
	       (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC ||
		system.f_type == DEBUGFS_MAGIC || system.f_type == TRACEFS_MAGIC);
}

/* An O_PATH descriptor of a regular file; -1 with errno. */
static int look(int root, const char *path, enum mt_foreign_links links, struct stat *status)
{
	MT_CLEANUP_CLOSE int fd = links == MT_LINKS_ALL ? open(path, O_PATH | O_CLOEXEC)
							: walk_path(root, path, links);
	int given = fd;

	if (fd < 0 || fstat(fd, status))
		return -1;
	errno = S_ISDIR(status->st_mode) ? EISDIR : EINVAL;
	if (!S_ISREG(status->st_mode) || (links != MT_LINKS_ALL && is_kernel_made(fd)))
		return -1;
	fd = -1;
	return given;
}

/* Without a mounted /proc, opens the path again and checks that it is still the same file. */
static int open_again(int root, const char *path, const struct stat *seen)
{
	struct stat status;
	int fd = openat(root, root == AT_FDCWD ? path : path + strspn(path, "/"),
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 ||
	    (!fstat(fd, &status) && status.st_ino == seen->st_ino && status.st_dev == seen->st_dev))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

int mt_foreign_open(int root, const char *path, enum mt_foreign_links links, struct stat *status)
{
	struct stat seen;
	MT_CLEANUP_CLOSE int fd = look(root, path, links, &seen);
	char itself[32];
	int out, error;

	if (fd < 0)
		return -1;
	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", fd);
	out = open(itself, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (out < 0 && errno == ENOENT)
		out = open_again(root, path, &seen);
	error = errno;
	if (out >= 0)
		*status = seen;
	errno = error;
	return out;
}

int mt_foreign_stat(int root, const char *path, enum mt_foreign_links links, struct stat *status)
{
	MT_CLEANUP_CLOSE int fd = look(root, path, links, status);

	return fd < 0 ? -1 : 0;
}

const char *mt_foreign_problem(int error)
{
	switch (error) {
	case EINVAL:
		return "not a regular file";
	case EPERM:
		return "through a link that another user owns";
	default:
		return strerror(error);
	}
}
