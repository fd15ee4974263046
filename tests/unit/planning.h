/*
 * Plans for tests of record/plan: kernels with more and with fewer features, and the plan of a
 * command line on them.
 */
#ifndef MT_TESTS_UNIT_PLANNING_H
#define MT_TESTS_UNIT_PLANNING_H

#include <stdlib.h>
#include <time.h>

#include "record/cli/options.h"
#include "record/open/perf_event.h"
#include "record/plan/plan.h"
#include "record/plan/probe_word.h"
#include "record/plan/variants.h"
#include "record/tracepoints/tracefs.h"
#include "record/tracepoints/tracepoint_source.h"
#include "tests/unit/unit.h"

static const struct mt_perf_features all_features = {
	.identifier = true,
	.mmap2 = true,
	.comm_exec = true,
	.clockid = true,
	.dummy = true,
	.cloexec = true,
	.format_lost = true,
	.kernel_frames = true,
	.ioc_id = true,
	.user_stack = true,
};

/* Tracepoints of this kernel. */
static const struct {
	const char *name;
	uint64_t id;
} tracepoints[] = {
	{"syscalls:sys_enter_brk", 101},     {"syscalls:sys_exit_brk", 102},
	{"syscalls:sys_enter_mmap", 103},    {"syscalls:sys_exit_mmap", 104},
	{"syscalls:sys_enter_munmap", 105},  {"syscalls:sys_exit_munmap", 106},
	{"syscalls:sys_enter_mremap", 107},  {"syscalls:sys_exit_mremap", 108},
	{"sched:sched_switch", 300},	     {"syscalls:sys_exit_odd", 400},
	{"task:task_newtask", 500},	     {"kmem:rss_stat", 501},
	{"kmem:mm_page_alloc", 502},	     {"mmap_lock:mmap_lock_acquire_returned", 503},
	{"syscalls:sys_enter_madvise", 504}, {"syscalls:sys_exit_madvise", 505},
};

static inline struct mt_error *find(void *context, const char *name, struct mt_tracepoint *out)
{
	unsigned *asked = context;

	(*asked)++;
	for (size_t i = 0; i < sizeof(tracepoints) / sizeof(tracepoints[0]); i++) {
		if (strcmp(tracepoints[i].name, name))
			continue;
		*out = (struct mt_tracepoint){.id = tracepoints[i].id, .format = strdup(name)};
		return NULL;
	}
	return mt_error_hint(mt_error_create(MT_ERR_NOT_FOUND, "no %s", name), "others");
}

static inline struct mt_error *each_tracepoint(void *source,
					       bool (*each)(void *context, const char *name),
					       void *context)
{
	(void)source;
	for (size_t i = 0; i < sizeof(tracepoints) / sizeof(tracepoints[0]); i++) {
		if (!each(context, tracepoints[i].name))
			break;
	}
	return NULL;
}

/* Like mt_probes_define(): one probe for every word, with its entry before a return probe. */
static inline struct mt_error *probe(void *probes, const char *text, size_t length,
				     mt_take_probe *each, void *out, char **note)
{
	char alias[64];
	const struct mt_defined_probe named = {.name = "sched:sched_switch", .alias = alias};
	const struct mt_defined_probe entry = {
		.name = "sched:sched_switch", .alias = alias, .entry = true};

	(void)probes;
	snprintf(alias, sizeof(alias), "%.*s", (int)mt_probe_word_stem(text, length), text);
	*note = strdup("a note");
	if (!strncmp(alias, "ur:", 3))
		MT_CHECK_OK(each(out, &entry));
	return each(out, &named);
}

/* The plan of that command line on a kernel with those features. */
static inline struct mt_error *plan_for(const char *line, const struct mt_perf_features *features,
					struct mt_plan **out)
{
	char text[256], *argv[16];
	int argc = 0;
	unsigned asked = 0;
	struct mt_tracepoint_source source = {
		.context = &asked, .find = find, .each = each_tracepoint, .probe = probe};
	struct mt_record_options options;
	struct mt_error *err;

	snprintf(text, sizeof(text), "mtrec %s", line);
	for (char *word = strtok(text, " "); word && argc < 15; word = strtok(NULL, " "))
		argv[argc++] = strcmp(word, "~") ? word : word + 1;
	argv[argc] = NULL;
	err = mt_record_options_parse(argc, argv, &options);
	if (err)
		return mt_error_context(err, "options");
	err = mt_plan_create(&options, features, &source, out);
	mt_record_options_deinit(&options);
	return err;
}

static inline struct mt_plan *planned(const char *line)
{
	struct mt_plan *plan = NULL;

	MT_CHECK_OK(plan_for(line, &all_features, &plan));
	return plan;
}

static inline struct mt_plan *planned_without(const char *line, struct mt_perf_features features)
{
	struct mt_plan *plan = NULL;

	MT_CHECK_OK(plan_for(line, &features, &plan));
	return plan;
}

static inline bool has(const struct mt_planned_event *event, uint64_t fields)
{
	return (event->attr.sample_type & fields) == fields;
}

static inline bool has_none(const struct mt_planned_event *event, uint64_t fields)
{
	return !(event->attr.sample_type & fields);
}

/* Number of requested events: all events but the marks at the end, which the plan adds itself. */
static inline size_t asked_for(const struct mt_plan *plan)
{
	size_t count = plan->events.count;

	while (count && plan->events.items[count - 1].role == MT_ROLE_MARK &&
	       (plan->events.items[count - 1].pair == MT_EVENT_NONE ||
		plan->events.items[plan->events.items[count - 1].pair].role == MT_ROLE_MARK))
		count--;
	return count;
}

#define STACK (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* A kernel with raw_syscalls only, without CONFIG_FTRACE_SYSCALLS. */
static inline struct mt_error *find_raw(void *context, const char *name, struct mt_tracepoint *out)
{
	(void)context;
	if (strncmp(name, "raw_syscalls:", 13))
		return mt_error_create(MT_ERR_NOT_FOUND, "no %s", name);
	*out = (struct mt_tracepoint){.id = strstr(name, "exit") ? 2 : 1};
	return NULL;
}

/* A kernel without access to tracepoints. */
static inline struct mt_error *find_none(void *context, const char *name, struct mt_tracepoint *out)
{
	(void)context;
	(void)out;
	return mt_error_hint(mt_error_create(MT_ERR_PERMISSION, "%s is out of reach", name),
			     "be root");
}

static inline struct mt_plan *planned_by(const char *events,
					 struct mt_error *(*look_up)(void *, const char *,
								     struct mt_tracepoint *))
{
	struct mt_tracepoint_source source = {.find = look_up};
	const char *words[] = {events};
	struct mt_record_options options = {
		.events = {.items = words, .count = 1},
		.all_cpus = true,
		.call_graph = MT_GRAPH_DWARF,
		.dump_size = 8192,
	};
	struct mt_plan *plan = NULL;

	MT_CHECK_OK(mt_plan_create(&options, &all_features, &source, &plan));
	return plan;
}

/* The planned event of that name, or NULL. */
static inline const struct mt_planned_event *event_named(const struct mt_plan *plan,
							 const char *name)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		if (!strcmp(plan->events.items[i].name, name))
			return &plan->events.items[i];
	}
	return NULL;
}

/* A kernel that allows only tracepoints of system calls. */
static inline struct mt_error *find_unprivileged(void *context, const char *name,
						 struct mt_tracepoint *out)
{
	(void)context;
	if (strstr(name, "remap_file_pages"))
		return find_none(NULL, name, out);
	*out = (struct mt_tracepoint){.id = 1, .refused = strncmp(name, "syscalls:", 9) != 0};
	return NULL;
}

#endif
