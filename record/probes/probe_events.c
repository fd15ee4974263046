/* The only file that writes into tracefs' uprobe_events and kprobe_events. */
#include "record/probes/probe_events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/proc/procfs.h"
#include "record/state/existing.h"

#define GROUP "mtrec_"

static const char *file_of(bool kernel)
{
	return kernel ? "kprobe_events" : "uprobe_events";
}

static unsigned long long start_of(int pid)
{
	MT_CLEANUP_FREE char *stat = mt_read_textf(NULL, "/proc/%d/stat", pid);

	return stat ? mt_existing_start_time(stat) : 0;
}

void mt_probe_group(char out[MT_PROBE_GROUP_SIZE])
{
	int pid = (int)getpid();

	snprintf(out, MT_PROBE_GROUP_SIZE, GROUP "%d_%llu", pid, start_of(pid));
}

bool mt_probe_line_get(const char *line, char *event, size_t size, int *pid,
		       unsigned long long *start)
{
	const char *colon = strchr(line, ':');
	size_t length;
	int used = 0;

	if (!colon || sscanf(colon + 1, GROUP "%d_%llu/%n", pid, start, &used) != 2 || !used)
		return false;
	length = strcspn(colon + 1, " \n");
	if (length >= size)
		return false;
	snprintf(event, size, "%.*s", (int)length, colon + 1);
	return true;
}

/* Appends a line. Truncating the file would remove all probes of all processes. */
static int write_line(int tracefs, bool kernel, const char *line)
{
	MT_CLEANUP_CLOSE int fd = openat(tracefs, file_of(kernel), O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return errno;
	return write(fd, line, strlen(line)) < 0 ? errno : 0;
}

bool mt_probe_event_remove(int tracefs, bool kernel, const char *event)
{
	char line[256];

	snprintf(line, sizeof(line), "-:%s\n", event);
	errno = write_line(tracefs, kernel, line);
	return !errno;
}

/* Returns the kernel's last error message if it is about this definition (Linux 5.2); else NULL. */
static char *kernels_reason(int tracefs, const char *definition)
{
	MT_CLEANUP_FREE char *text = mt_read_text_at(tracefs, "error_log", NULL);
	size_t named = strcspn(definition, " ");
	const char *last = NULL, *command;

	for (const char *at = text; at && (at = strstr(at, "probe: error: "));)
		last = at += strlen("probe: error: ");
	command = last ? strstr(last, "Command: ") : NULL;
	if (!command || strncmp(command + strlen("Command: "), definition, named) != 0)
		return NULL;
	return strndup(last, strcspn(last, "\n"));
}

struct mt_error *mt_probe_event_write(int tracefs, bool kernel, const char *definition)
{
	int failed = write_line(tracefs, kernel, definition);
	MT_CLEANUP_FREE char *reason = NULL;
	struct mt_error *err;

	if (!failed)
		return NULL;
	if (failed == ENOENT && faccessat(tracefs, file_of(kernel), F_OK, 0))
		return mt_error_create(MT_ERR_UNSUPPORTED,
				       "this kernel has no %s (CONFIG_%s): tracefs has no %s",
				       kernel ? "kprobes" : "uprobes",
				       kernel ? "KPROBE_EVENTS" : "UPROBE_EVENTS", file_of(kernel));
	if (failed == EACCES || failed == EPERM) {
		err = mt_error_os(failed, "cannot write tracefs' %s", file_of(kernel));
		err->kind = MT_ERR_PERMISSION;
		return mt_error_hint(err, MT_PROBES_HINT);
	}
	if (failed == EINVAL)
		reason = kernels_reason(tracefs, definition);
	if (!reason)
		return mt_error_os(failed, "the kernel refuses '%s'", definition);
	err = mt_error_create(MT_ERR_USAGE, "the kernel refuses '%s': %s", definition, reason);
	err->errnum = failed;
	return err;
}

/* Sweeps one list of probes; a list that this kernel does not have is empty. */
static struct mt_error *sweep_file(int tracefs, bool kernel, size_t *removed, size_t *kept)
{
	MT_CLEANUP_FREE char *text = mt_read_text_at(tracefs, file_of(kernel), NULL);
	char *rest = NULL;

	if (!text)
		return errno == ENOENT ? NULL : mt_error_os(errno, "tracefs: %s", file_of(kernel));
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char event[192];
		unsigned long long start;
		int pid;

		if (!mt_probe_line_get(line, event, sizeof(event), &pid, &start) ||
		    start_of(pid) == start)
			continue;
		if (mt_probe_event_remove(tracefs, kernel, event))
			(*removed)++;
		else if (errno == EBUSY)
			(*kept)++;
		else
			return mt_error_os(errno, "cannot remove the probe %s", event);
	}
	return NULL;
}

struct mt_error *mt_probe_events_sweep(int tracefs, size_t *removed, size_t *kept)
{
	struct mt_error *err;

	*removed = *kept = 0;
	err = sweep_file(tracefs, false, removed, kept);
	return err ? err : sweep_file(tracefs, true, removed, kept);
}
