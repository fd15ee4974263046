/*
 * Checks filters. perf's ioctl returns only EINVAL; the kernel gives its reason only for a filter
 * that is written through tracefs. So a refused filter is written again in a private tracing
 * instance, which is then removed.
 */
#include "record/plan/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "record/open/perf_event.h"
#include "record/open/trials.h"
#include "record/plan/plan.h"
#include "record/proc/procfs.h"

#define FIELD "field:"

struct mt_error *mt_filter_add(char **filter, const char *expression)
{
	char *joined;

	if (!*filter)
		joined = strdup(expression);
	else if (asprintf(&joined, "(%s) && (%s)", *filter, expression) < 0)
		joined = NULL;
	if (!joined)
		return mt_error_nomem();
	free(*filter);
	*filter = joined;
	return NULL;
}

/* Returns the text after "parse_error: " in the text of the filter file. */
static char *reason_in(const char *text)
{
	const char *at = text ? strstr(text, "parse_error: ") : NULL;

	at = at ? at + strlen("parse_error: ") : NULL;
	return at ? strndup(at, strcspn(at, "\n")) : NULL;
}

/* Writes the filter into the instance's file and returns the kernel's reason for refusing it. */
static char *try_in_instance(int tracefs, const char *instance,
			     const struct mt_planned_event *event)
{
	MT_CLEANUP_FREE char *path = NULL;
	MT_CLEANUP_FREE char *text = NULL;
	MT_CLEANUP_CLOSE int fd = -1;
	char *colon;

	path = mt_format("%s/events/%s/filter", instance, event->name);
	if (!path)
		return NULL;
	colon = strrchr(path, ':');
	if (colon)
		*colon = '/';
	fd = openat(tracefs, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, event->filter, strlen(event->filter)) >= 0)
		return NULL;
	text = mt_read_text_at(tracefs, path, NULL);
	return reason_in(text);
}

/* Returns the kernel's reason, e.g. "Field not found"; NULL if it is not available. */
static char *kernels_reason(int tracefs, const struct mt_planned_event *event)
{
	char instance[64];
	char *reason;

	snprintf(instance, sizeof(instance), "instances/mtrec-%d", (int)getpid());
	if (tracefs < 0 || mkdirat(tracefs, instance, 0700))
		return NULL;
	reason = try_in_instance(tracefs, instance, event);
	unlinkat(tracefs, instance, AT_REMOVEDIR);
	return reason;
}

/* Returns the field names of a format file, e.g. "common_pid, ret"; NULL if there are none. */
static char *field_names(const char *format)
{
	char *names = NULL;
	size_t size;
	FILE *out = format ? open_memstream(&names, &size) : NULL;
	const char *separator = "";

	for (const char *at = format; out && (at = strstr(at, FIELD)); at++) {
		const char *end = at + strcspn(at, ";[\n"), *start = end;

		while (start > at && start[-1] != ' ' && start[-1] != '*')
			start--;
		if (!strncmp(start, "common_", 7) && strncmp(start, "common_pid", 10))
			continue;
		fprintf(out, "%s%.*s", separator, (int)(end - start), start);
		separator = ", ";
	}
	if (out)
		fclose(out);
	return names;
}

static struct mt_error *refused(int errnum, const struct mt_planned_event *event, int tracefs)
{
	MT_CLEANUP_FREE char *reason = kernels_reason(tracefs, event);
	MT_CLEANUP_FREE char *fields = field_names(event->format);
	struct mt_error *err =
		mt_error_create(MT_ERR_USAGE, "--filter: the kernel refuses '%s' for %s: %s",
				event->filter, event->name, reason ? reason : strerror(errnum));

	if (event->pair != MT_EVENT_NONE)
		return mt_error_hint(err,
				     "a filter of %s holds for the call's return, which has %s; "
				     "arguments stand in the tracepoint syscalls:sys_enter_%s",
				     event->alias, fields ? fields : "ret", event->alias);
	if (!fields)
		return mt_error_hint(err, "an expression is like 'field > 4096 && other == 1'");
	return mt_error_hint(err, "its fields are %s", fields);
}

static struct mt_error *check_one(const struct mt_planned_event *event,
				  const struct mt_perf_features *features, struct mt_trials *trials,
				  int tracefs)
{
	struct perf_event_attr attr = event->attr;
	int fd, failed;

	attr.inherit = 0;
	fd = mt_perf_open(&attr, 0, -1, features);
	/* an event that cannot be opened is reported later, when its target is known */
	failed = fd < 0 || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, event->filter) ? 0 : errno;
	mt_trials_keep(trials, fd);
	return failed ? refused(failed, event, tracefs) : NULL;
}

struct mt_error *mt_filter_check(const struct mt_plan *plan,
				 const struct mt_perf_features *features, struct mt_trials *trials,
				 int tracefs)
{
	struct mt_error *err = NULL;

	for (size_t i = 0; i < plan->events.count && !err; i++) {
		if (plan->events.items[i].filter)
			err = check_one(&plan->events.items[i], features, trials, tracefs);
	}
	return err;
}
