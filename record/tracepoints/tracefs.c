/*
 * Opens tracefs. All access goes through one directory descriptor, so that a private mount works
 * like /sys.
 */
#include "record/tracepoints/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "record/proc/numbers.h"
#include "record/proc/procfs.h"

#define NAMESPACE_STACK ((size_t)64 << 10)

static int try_dir(int *last_errno, const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0) {
		*last_errno = errno;
		return -1;
	}
	/* without the mount, its mount point /sys/kernel/tracing is an empty directory */
	if (faccessat(dir, "events", F_OK, 0)) {
		*last_errno = errno;
		close(dir);
		return -1;
	}
	return dir;
}

/* Runs in a private mount namespace: mounts tracefs and opens it in the shared descriptor table. */
static int namespace_main(void *argument)
{
	static const char *const kinds[][3] = {
		{"tracefs", "/sys/kernel/tracing", ""},
		{"tracefs", "/sys/kernel/debug", ""},
		{"debugfs", "/sys/kernel/debug", "/tracing"},
	};
	int *dir = argument, ignored;
	char path[64];

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 1;
	for (size_t i = 0; i < 3 && *dir < 0; i++) {
		if (mount("none", kinds[i][1], kinds[i][0], MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
			continue;
		snprintf(path, sizeof(path), "%s%s", kinds[i][1], kinds[i][2]);
		*dir = try_dir(&ignored, path);
	}
	return *dir < 0;
}

/*
 * A child that shares memory and descriptors mounts tracefs in a private namespace. The opened
 * directory outlives the child and its namespace.
 */
static int namespace_mount(void)
{
	MT_CLEANUP_FREE char *stack = malloc(NAMESPACE_STACK);
	int dir = -1, status;
	pid_t pid = stack ? clone(namespace_main, stack + NAMESPACE_STACK,
				  CLONE_VM | CLONE_FILES | CLONE_VFORK | SIGCHLD, &dir)
			  : -1;

	if (pid > 0)
		waitpid(pid, &status, 0);
	return dir;
}

void mt_tracefs_open(struct mt_tracefs *out)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int failed = ENOENT, errno_of_place;

	*out = (struct mt_tracefs){.dir = -1};
	for (size_t i = 0; i < 2 && out->dir < 0; i++) {
		out->dir = try_dir(&errno_of_place, places[i]);
		out->where = places[i];
		if (out->dir < 0 && errno_of_place != ENOENT)
			failed = errno_of_place;
	}
	if (out->dir >= 0)
		return;
	out->dir = namespace_mount();
	out->where = "a private mount";
	out->failed = out->dir < 0 ? failed : 0;
}

void mt_tracefs_close(struct mt_tracefs *tracefs)
{
	if (tracefs->dir >= 0)
		close(tracefs->dir);
	*tracefs = (struct mt_tracefs){.dir = -1};
}

const char *mt_tracefs_why_not(const struct mt_tracefs *tracefs)
{
	return tracefs->failed == ENOENT   ? "tracefs is not mounted"
	       : tracefs->failed == EACCES ? "tracefs is there but not readable for this user"
					   : strerror(tracefs->failed);
}

static bool out_of_files(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE;
}

bool mt_tracefs_lacks_files(const struct mt_tracefs *tracefs)
{
	return tracefs->dir < 0 && out_of_files(tracefs->failed);
}

/* Adds a remedy to err and sets its kind: more files, or the permission that the text describes. */
static struct mt_error *say_what_to_do(struct mt_error *err, int errnum, const char *permission)
{
	if (out_of_files(errnum))
		return mt_error_hint(err, "%s",
				     errnum == EMFILE ? "raise ulimit -n"
						      : "raise sysctl fs.file-max");
	err->kind = MT_ERR_PERMISSION;
	return mt_error_hint(err, "%s", permission);
}

static struct mt_error *no_tracefs(const struct mt_tracefs *tracefs, const char *name)
{
	struct mt_error *err = mt_error_create(MT_ERR_OS, "%s: cannot look up the tracepoint: %s",
					       name, mt_tracefs_why_not(tracefs));

	return say_what_to_do(err, tracefs->failed,
			      geteuid() ? "run as root, or have root run: mount -t tracefs nodev "
					  "/sys/kernel/tracing; chmod -R a+rX /sys/kernel/tracing"
					: "mount -t tracefs nodev /sys/kernel/tracing");
}

static struct mt_error *find_failed(int errnum, const char *name)
{
	struct mt_error *err;

	if (errnum == ENOENT || errnum == ENOTDIR) {
		err = mt_error_create(MT_ERR_NOT_FOUND,
				      "unknown event '%s': this kernel has no such tracepoint",
				      name);
		return mt_error_hint(err, "mtrec --list shows the events; syscall tracepoints need "
					  "CONFIG_FTRACE_SYSCALLS");
	}
	err = mt_error_os(errnum, "%s: cannot read the tracepoint's id", name);
	if (!out_of_files(errnum) && errnum != EACCES && errnum != EPERM)
		return err;
	return say_what_to_do(err, errnum,
			      "run as root, or have root run: chmod -R a+rX /sys/kernel/tracing");
}

/* Reads events/SUBSYSTEM/NAME/FILE as text. NULL with errno. */
static char *read_event_file(const struct mt_tracefs *tracefs, const char *name, const char *file)
{
	MT_CLEANUP_FREE char *path = NULL;
	const char *colon = strchr(name, ':');

	if (!colon || strstr(name, "..") || strchr(name, '/')) {
		errno = ENOENT;
		return NULL;
	}
	path = mt_format("events/%.*s/%s/%s", (int)(colon - name), name, colon + 1, file);
	if (!path)
		return NULL;
	return mt_read_text_at(tracefs->dir, path, NULL);
}

struct mt_error *mt_tracefs_find(const struct mt_tracefs *tracefs, const char *name,
				 struct mt_tracepoint *out)
{
	MT_CLEANUP_FREE char *id_text = NULL;
	MT_CLEANUP_FREE char *format = NULL;
	uint64_t id;

	if (tracefs->dir < 0)
		return no_tracefs(tracefs, name);
	id_text = read_event_file(tracefs, name, "id");
	format = id_text ? read_event_file(tracefs, name, "format") : NULL;
	if (!format)
		return find_failed(errno, name);
	id_text[strcspn(id_text, "\n")] = '\0';
	if (!mt_parse_u64(id_text, &id))
		return mt_error_create(MT_ERR_FORMAT, "%s: the tracepoint's id is not a number",
				       name);
	*out = (struct mt_tracepoint){.id = id, .format = MT_TAKE(format)};
	return NULL;
}

/* Lists a directory below tracefs, sorted. -1 with errno. */
static int scan_names(int dir, const char *path, struct dirent ***out)
{
	return scandirat(dir, path, out, NULL, alphasort);
}

static void free_names(struct dirent **names, int count)
{
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

static bool each_in_subsystem(const struct mt_tracefs *tracefs, const char *subsystem,
			      bool (*each)(void *context, const char *name), void *context)
{
	MT_CLEANUP_FREE char *path = NULL;
	struct dirent **events;
	bool more = true;
	int count;

	if (asprintf(&path, "events/%s", subsystem) < 0)
		return false;
	count = scan_names(tracefs->dir, path, &events);
	if (count < 0)
		return true; /* a plain file like events/enable */
	for (int i = 0; i < count && more; i++) {
		char name[NAME_MAX * 2 + 2];

		if (events[i]->d_name[0] == '.' || events[i]->d_type != DT_DIR)
			continue;
		snprintf(name, sizeof(name), "%s:%s", subsystem, events[i]->d_name);
		more = each(context, name);
	}
	free_names(events, count);
	return more;
}

struct mt_error *mt_tracefs_each(const struct mt_tracefs *tracefs,
				 bool (*each)(void *context, const char *name), void *context)
{
	struct dirent **subsystems;
	bool more = true;
	int count;

	if (tracefs->dir < 0)
		return no_tracefs(tracefs, "tracepoints");
	count = scan_names(tracefs->dir, "events", &subsystems);
	if (count < 0)
		return mt_error_os(errno, "tracefs: cannot list the tracepoints");
	for (int i = 0; i < count && more; i++) {
		if (subsystems[i]->d_name[0] != '.')
			more = each_in_subsystem(tracefs, subsystems[i]->d_name, each, context);
	}
	free_names(subsystems, count);
	return NULL;
}
