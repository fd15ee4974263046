/*
 * --stat: reads counters on the targets at intervals and at the end. Records nothing: there are no
 * rings and no drains, and the counts are the only output.
 */
#include "record/recorder_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/cli/options.h"
#include "record/counts/count_columns.h"
#include "record/plan/plan.h"
#include "record/recorder.h"

#define HEADER_EVERY 25 /* intervals between two headers */

/* Counters of tasks follow the tasks from CPU to CPU. */
struct mt_error *mt_recorder_open_counters(struct mt_recorder *r, const struct mt_plan *plan,
					   struct mt_event_set *out)
{
	int any = -1;
	const struct mt_number_list every = {.items = &any, .count = 1};
	const struct mt_number_list *cpus = !mt_options_target_cpus(r->options) ? &every
					    : r->options->cpus.count		? &r->options->cpus
										: &r->cpus;
	struct mt_error *err = mt_event_set_init(plan, &r->features, cpus, 0, out);

	if (err)
		return err;
	out->cgroup = r->cgroup;
	out->cgroup_name = r->options->cgroup;
	return mt_targets_open(r->options, &r->command, out);
}

/* Returns true for errors of an event that the kernel or this machine does not have. */
static bool is_unsupported(int errnum)
{
	return errnum == ENOENT || errnum == EOPNOTSUPP || errnum == ENODEV || errnum == ENXIO ||
	       errnum == ENOSYS || errnum == EINVAL;
}

void mt_recorder_leave_out_unsupported(struct mt_recorder *r)
{
	bool wide = mt_options_target_cpus(r->options);
	int cpu = r->options->cpus.count ? r->options->cpus.items[0] : r->cpus.items[0];

	for (size_t i = 1; i < r->plan->events.count; i++) {
		struct mt_planned_event *event = &r->plan->events.items[i];

		if (!event->left_out &&
		    !mt_perf_opens(&event->attr, wide ? -1 : 0, wide ? cpu : -1, &r->features))
			event->left_out = is_unsupported(errno);
	}
}

/* Returns true if --stat prints a row for the event: only for events that a recording samples. */
static bool has_row(const struct mt_planned_event *event)
{
	return event->role == MT_ROLE_SAMPLE || event->role == MT_ROLE_MEMBER;
}

static void print_title(const struct mt_recorder *r, FILE *to)
{
	const struct mt_record_options *options = r->options;

	fprintf(to, "\n Performance counter stats for '");
	if (options->command && !mt_options_target_cpus(options) &&
	    !mt_options_target_tasks(options)) {
		for (size_t i = 0; options->command[i]; i++)
			fprintf(to, "%s%s", i ? " " : "", options->command[i]);
	} else if (options->pids.count || options->tids.count) {
		bool threads = !options->pids.count;

		fprintf(to, "%s id", threads ? "thread" : "process");
		for (size_t i = 0; i < (threads ? options->tids.count : options->pids.count); i++)
			fprintf(to, "%c%d", i ? ',' : ' ',
				threads ? options->tids.items[i] : options->pids.items[i]);
	} else {
		fprintf(to, "%s", options->cgroup ? options->cgroup : "system wide");
	}
	fprintf(to, "':\n\n");
}

/* Prints the counts since the last call or, without an interval, since the start. */
static void print_counts(struct mt_recorder *r, uint64_t now, FILE *to)
{
	const struct mt_count_style style = {r->options->separator, r->options->interval != 0};
	double seconds = (double)(now - r->started) / 1e9;
	bool columns = !r->options->separator;

	if (columns && style.interval && r->printed_counts++ % HEADER_EVERY == 0)
		fprintf(to, "%-16s %18s unit events\n", "#           time", "counts");
	if (columns && !style.interval)
		print_title(r, to);
	for (uint32_t i = 1; i < r->plan->events.count; i++) {
		const struct mt_planned_event *event = &r->plan->events.items[i];
		struct mt_count count = mt_count_read(&r->opened, i);
		struct mt_count since = mt_count_since(&r->counts[i], &count);

		r->counts[i] = count;
		if (has_row(event))
			mt_count_print(&style, seconds, event, &since, to);
	}
	if (columns && !style.interval)
		fprintf(to, "\n%18.9f seconds time elapsed\n\n", seconds);
}

void mt_recorder_print_counts(struct mt_recorder *r, uint64_t now)
{
	MT_CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	/* several missed intervals, e.g. of a suspended host, are printed as one */
	do {
		r->next_count += r->options->interval;
	} while (r->options->interval && r->next_count <= mt_clock_now(&r->clock));
	if (!out)
		return;
	print_counts(r, now, out);
	if (!fclose(out) && !r->voice->print(r->voice->context, text))
		r->output_failed = true;
}
