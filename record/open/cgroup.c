/* Finds cgroups; /proc/self/mountinfo lists the mounted hierarchies. */
#include "record/open/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "record/proc/procfs.h"

#define CGROUP1_MAGIC 0x27e0eb
#define CGROUP2_MAGIC 0x63677270

/* Mount points of the usable hierarchies; empty: not mounted. */
struct hierarchies {
	char perf_event[PATH_MAX]; /* version 1 */
	char memory[PATH_MAX];	   /* version 1 */
	char unified[PATH_MAX];	   /* version 2 */
};

bool mt_cgroup_has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length) {
		if ((at == list || at[-1] == ',') && (!at[length] || strchr(",\n", at[length])))
			return true;
	}
	return false;
}

/* Parses one line of mountinfo: "... ROOT POINT OPTIONS ... - TYPE SOURCE SUPER-OPTIONS". */
static void see_mount(const char *line, struct hierarchies *found)
{
	const char *tail = strstr(line, " - ");
	char point[PATH_MAX], type[32], options[1024];

	if (!tail || sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1 ||
	    sscanf(tail, " - %31s %*s %1023s", type, options) != 2)
		return;
	if (!strcmp(type, "cgroup2") && !*found->unified)
		snprintf(found->unified, sizeof(found->unified), "%s", point);
	if (!strcmp(type, "cgroup") && mt_cgroup_has_word(options, "perf_event") &&
	    !*found->perf_event)
		snprintf(found->perf_event, sizeof(found->perf_event), "%s", point);
	if (!strcmp(type, "cgroup") && mt_cgroup_has_word(options, "memory") && !*found->memory)
		snprintf(found->memory, sizeof(found->memory), "%s", point);
}

static void find_hierarchies(struct hierarchies *found)
{
	MT_CLEANUP_FREE char *mounts = mt_read_text("/proc/self/mountinfo", NULL);
	char *next = NULL;

	*found->perf_event = *found->memory = *found->unified = '\0';
	for (char *line = mounts ? strtok_r(mounts, "\n", &next) : NULL; line;
	     line = strtok_r(NULL, "\n", &next))
		see_mount(line, found);
}

char *mt_cgroup_memory_mount(bool *unified)
{
	struct hierarchies found;

	find_hierarchies(&found);
	*unified = !*found.memory;
	if (!*found.memory && !*found.unified)
		return NULL;
	return strdup(*unified ? found.unified : found.memory);
}

/* Opens the directory if it is in a cgroup file system; -1 with errno otherwise. */
static int open_cgroup(const char *root, const char *name)
{
	MT_CLEANUP_FREE char *path = NULL;
	struct statfs status;
	int fd;

	path = mt_format("%s%s%s", root, *root && *name != '/' ? "/" : "", name);
	if (!path)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && (fstatfs(fd, &status) ||
			(status.f_type != CGROUP1_MAGIC && status.f_type != CGROUP2_MAGIC))) {
		close(fd);
		fd = -1;
		errno = ENOENT;
	}
	return fd;
}

struct mt_error *mt_cgroup_open(const char *name, int *out)
{
	struct hierarchies found;
	int fd = -1, errnum = ENOENT;

	find_hierarchies(&found);
	if (!*found.perf_event && !*found.unified)
		return mt_error_hint(
			mt_error_create(MT_ERR_NOT_FOUND, "-G: no cgroup hierarchy is mounted that "
							  "perf events can use"),
			"mount -t cgroup -o perf_event none DIRECTORY, or -t cgroup2 none "
			"DIRECTORY");
	if (*found.perf_event)
		fd = open_cgroup(found.perf_event, name);
	if (fd < 0 && *found.unified && !*found.perf_event)
		fd = open_cgroup(found.unified, name);
	if (fd < 0 && errno != ENOENT)
		errnum = errno;
	if (fd < 0 && *name == '/')
		fd = open_cgroup("", name);
	if (fd < 0)
		return mt_error_hint(mt_error_create(MT_ERR_NOT_FOUND, "-G: cgroup %s: %s", name,
						     strerror(errnum)),
				     "names are those below %s, as in /proc/PID/cgroup",
				     *found.perf_event ? found.perf_event : found.unified);
	*out = fd;
	return NULL;
}

/* Returns the path below the mount point; NULL: the path is elsewhere. */
static const char *path_below(const char *path, const char *mount)
{
	size_t length = strlen(mount);

	if (!length || strncmp(path, mount, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path[length] ? path + length : "/";
}

char *mt_cgroup_line(int fd)
{
	struct hierarchies found;
	char link[64], path[PATH_MAX];
	const char *below;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = '\0';
	find_hierarchies(&found);
	below = path_below(path, found.perf_event);
	if (below)
		return mt_format("perf_event:%s", below);
	below = path_below(path, found.unified);
	return below ? mt_format(":%s", below) : NULL;
}

struct mt_error *mt_cgroup_error(int errnum, const char *name, const char *event)
{
	struct mt_error *err =
		mt_error_os(errnum, "cannot open the event %s for cgroup %s", event, name);

	switch (errnum) {
	case ENOENT:
		return mt_error_hint(
			err, "its perf_event part does not exist: on version 2 that is made when "
			     "the root's cgroup.subtree_control is first written to, as in: echo "
			     "+pids > ROOT/cgroup.subtree_control");
	case ENODEV:
	case EBADF:
		return mt_error_hint(err,
				     "the directory is of a hierarchy that perf_event is not bound "
				     "to: name one of the perf_event hierarchy");
	case EINVAL:
		return mt_error_hint(err, "this kernel may lack CONFIG_CGROUP_PERF");
	default:
		return err;
	}
}
