/* Tries the aliases of the event table. */
#include "record/cli/host_events.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/records/events.h"
#include "record/cli/options.h"
#include "record/open/limits.h"
#include "record/open/perf_event.h"
#include "record/open/trials.h"
#include "record/plan/plan.h"
#include "record/proc/procfs.h"
#include "record/tracepoints/tracepoint_source.h"
#include "record/tracepoints/tracepoints.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

MT_DEFINE_CLEANUP(mt_plan, struct mt_plan)

struct mt_error *mt_host_events_probe(struct mt_host_events *out)
{
	struct perf_event_attr attr = mt_perf_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct mt_host_events host = {.tracefs = {.dir = -1}};
	struct mt_error *err = mt_features_probe(&host.features);

	if (err)
		return err;
	attr.sample_period = 1000000;
	host.pmu = mt_perf_opens(&attr, 0, -1, &host.features);
	*out = host;
	return NULL;
}

struct mt_error *mt_host_events_open(struct mt_host_events *host, const char *ids_file)
{
	return mt_tracepoints_create(&host->features, &host->trials, ids_file, &host->tracepoints);
}

void mt_host_events_deinit(struct mt_host_events *host)
{
	mt_tracefs_close(&host->tracefs);
	mt_tracepoints_destroy(host->tracepoints);
	mt_trials_end(&host->trials);
}

/*
 * Returns true if this user may open the tracepoint for all processes. Every user may open
 * tracepoints of system calls, so `id` must not be one of those.
 */
static bool may_all(const struct mt_host_events *host, uint64_t id)
{
	struct perf_event_attr attr = mt_perf_attr(PERF_TYPE_TRACEPOINT, id);

	attr.sample_type = PERF_SAMPLE_RAW;
	attr.exclude_kernel = 0;
	return mt_perf_opens(&attr, -1, 0, &host->features);
}

void mt_host_events_trust_names(struct mt_host_events *host)
{
	struct mt_tracepoint found = {0};
	struct mt_error *err;

	mt_tracefs_open(&host->tracefs);
	err = mt_tracefs_find(&host->tracefs, "sched:sched_switch", &found);
	host->by_name = !err && may_all(host, found.id);
	mt_error_destroy(err);
	free(found.format);
}

bool mt_host_events_may_probe(const struct mt_host_events *host, long *type)
{
	bool may = mt_limits_capable(CAP_PERFMON) || mt_limits_capable(CAP_SYS_ADMIN);
	struct perf_event_attr attr = {.size = sizeof(attr), .disabled = 1, .sample_period = 1};

	*type = mt_read_number("/sys/bus/event_source/devices/uprobe/type", -1);
	attr.type = (uint32_t)*type;
	/* attr has no path; EACCES and EPERM are reported before the error for that */
	return may && (*type < 0 || mt_perf_opens(&attr, 0, -1, &host->features) ||
		       (errno != EACCES && errno != EPERM));
}

static struct mt_error *find_by_name(void *context, const char *name, struct mt_tracepoint *out)
{
	return mt_tracefs_find(context, name, out);
}

static struct mt_error *plan_alias(struct mt_host_events *host, const char *alias,
				   struct mt_plan **out)
{
	struct mt_tracepoint_source source = mt_tracepoints_source(host->tracepoints);
	struct mt_group_trial trial = {&host->features, &host->trials, -1, false};
	const char *words[] = {alias};
	struct mt_record_options options = {
		.events = {.items = words, .count = 1},
		.call_graph = MT_GRAPH_DWARF,
		.dump_size = 8192,
	};

	if (host->by_name)
		source = (struct mt_tracepoint_source){.context = &host->tracefs,
						       .find = find_by_name};
	source.together = mt_group_trial_together;
	source.together_context = &trial;
	return mt_plan_create(&options, &host->features, &source, out);
}

/* Returns true if all events of the plan open for the process and CPU. */
static bool plan_opens(const struct mt_host_events *host, const struct mt_plan *plan, pid_t pid,
		       int cpu)
{
	for (size_t i = 1; i < plan->events.count; i++) {
		struct perf_event_attr attr = plan->events.items[i].attr;

		attr.inherit = 0;
		if (!(host->by_name && attr.type == PERF_TYPE_TRACEPOINT) &&
		    !mt_perf_opens(&attr, pid, cpu, &host->features))
			return false;
	}
	return true;
}

static void try_probes(const struct mt_host_events *host, struct mt_host_event *out)
{
	long type;

	out->own = out->wide = mt_host_events_may_probe(host, &type);
	if (!out->own)
		out->err = mt_error_hint(mt_error_create(MT_ERR_PERMISSION,
							 "no probes at functions of programs"),
					 "run as root, or give mtrec CAP_PERFMON");
}

void mt_host_events_try(struct mt_host_events *host, const struct mt_event_def *def,
			struct mt_host_event *out)
{
	MT_CLEANUP(mt_plan_destroy_p) struct mt_plan *plan = NULL;

	*out = (struct mt_host_event){0};
	if (def->kind == MT_EVENT_ALLOCATOR) {
		try_probes(host, out);
		return;
	}
	out->err = plan_alias(host, def->alias, &plan);
	if (out->err)
		return;
	out->in_part =
		(def->kind == MT_EVENT_SYSCALL || def->kind == MT_EVENT_GROUP) && plan->notes.count;
	out->wide = plan_opens(host, plan, -1, 0);
	out->own = out->wide || plan_opens(host, plan, 0, -1);
	if (!out->own)
		out->err = def->kind == MT_EVENT_HARDWARE && !host->pmu
				   ? mt_error_create(MT_ERR_UNSUPPORTED, "no PMU")
				   : mt_perf_open_error(errno, def->alias, false,
							&plan->events.items[1].attr);
	else if (out->in_part)
		out->missing = strdup(plan->notes.items[0]);
}

void mt_host_event_deinit(struct mt_host_event *event)
{
	free(event->missing);
	mt_error_destroy(event->err);
	*event = (struct mt_host_event){0};
}
