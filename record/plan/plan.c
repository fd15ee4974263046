/*
 * Plans events: converts event words to attributes. Opens no events and reads the kernel's state
 * only through its arguments.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/cli/options.h"
#include "record/open/perf_event.h"
#include "record/plan/filter.h"
#include "record/plan/plan.h"
#include "record/plan/planner.h"
#include "record/plan/probe_word.h"
#include "record/tracepoints/tracepoint_source.h"

void mt_plan_destroy(struct mt_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->events.count; i++)
		mt_planned_event_deinit(&plan->events.items[i]);
	for (size_t i = 0; i < plan->notes.count; i++)
		free(plan->notes.items[i]);
	mt_array_deinit(&plan->notes);
	for (size_t i = 0; i < plan->block_files.count; i++)
		free(plan->block_files.items[i]);
	mt_array_deinit(&plan->block_files);
	free(plan->probed);
	mt_array_deinit(&plan->events);
	free(plan);
}
MT_DEFINE_CLEANUP(mt_plan, struct mt_plan)

void mt_plan_widen(struct mt_plan *plan)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		struct mt_planned_event *event = &plan->events.items[i];

		event->attr.inherit = 0;
		event->decoded.flags &= ~(1ull << MT_ATTR_INHERIT);
	}
}

void mt_plan_count_only(struct mt_plan *plan)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		struct mt_planned_event *event = &plan->events.items[i];
		struct perf_event_attr *attr = &event->attr;

		event->left_out = event->role != MT_ROLE_SAMPLE && event->role != MT_ROLE_MEMBER;
		attr->sample_period = attr->sample_type = attr->branch_sample_type = 0;
		attr->sample_regs_user = attr->sample_stack_user = 0;
		attr->freq = attr->sample_id_all = attr->watermark = attr->wakeup_watermark = 0;
		attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	}
}

/*
 * Plans the side-band event, which reports maps, comms, forks and exits and counts nothing. Kernels
 * before 3.12 have no dummy event; alignment faults with an unreachable period replace it.
 */
static struct mt_error *plan_sideband(struct mt_planner *planner)
{
	const struct mt_perf_features *features = planner->features;
	struct mt_planned_event event = {
		.role = MT_ROLE_SIDEBAND,
		.pair = MT_EVENT_NONE,
		.class = MT_CLASS_RARE,
		.name = strdup("dummy"),
		.attr = mt_planner_attr(planner),
	};

	/* new threads map files whose code the recorded threads execute */
	event.attr.inherit = !mt_options_target_cpus(planner->options);
	event.attr.type = PERF_TYPE_SOFTWARE;
	event.attr.config = features->dummy ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_ALIGNMENT_FAULTS;
	event.attr.sample_period = features->dummy ? 1 : INT64_MAX / 2;
	event.attr.mmap = 1;
	event.attr.mmap2 = features->mmap2;
	event.attr.comm = 1;
	event.attr.comm_exec = features->comm_exec;
	event.attr.task = 1;
	return mt_planner_add(planner, &event, "dummy", 5, "records");
}

/*
 * Returns the word to which a --filter after `list` applies: the last word of the list, or of the
 * braces that end it.
 */
static char *filtered_word(const char *list)
{
	size_t length = mt_planner_word_length(list);

	for (; list[length]; length = mt_planner_word_length(list))
		list += length + 1;
	if (*list == '{') {
		MT_CLEANUP_FREE char *inner = strndup(list + 1, strcspn(list + 1, "}"));

		return inner ? filtered_word(inner) : NULL;
	}
	return mt_is_probe_word(list, length) ? strndup(list, mt_probe_word_stem(list, length))
					      : strndup(list, strcspn(list, "="));
}

/* Returns true if the filter of `word` applies to the event. A pattern applies to all matches. */
static bool is_filtered(const struct mt_planned_event *event, const char *word)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT &&
	       (event->role == MT_ROLE_SAMPLE || event->role == MT_ROLE_MEMBER) &&
	       (mt_planner_is_glob(word, strlen(word)) ? !fnmatch(word, event->alias, 0)
						       : !strcmp(word, event->alias));
}

static struct mt_error *plan_filter(struct mt_plan *plan, const struct mt_filter_option *option)
{
	MT_CLEANUP_FREE char *word = filtered_word(option->events);
	struct mt_error *err = word ? NULL : mt_error_nomem();
	bool some = false;

	for (size_t i = 1; i < plan->events.count && !err; i++) {
		struct mt_planned_event *event = &plan->events.items[i];

		if (!is_filtered(event, word))
			continue;
		some = true;
		err = mt_filter_add(&event->filter, option->expression);
	}
	if (err || some)
		return err;
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--filter: %s is no tracepoint", word),
			     "it goes behind the -e of a tracepoint or a system call: -e brk "
			     "--filter 'ret > 0'");
}

/*
 * Applies -F to events that are counted one by one: thins storm events to that many samples per
 * second.
 */
static struct mt_error *thin_storms(struct mt_planner *planner)
{
	struct mt_plan *plan = planner->plan;
	uint64_t rate = planner->options->frequency;
	MT_CLEANUP_FREE char *names = NULL;
	struct mt_error *err = NULL;

	for (size_t i = 1; i < plan->events.count && !err; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];

		if (event->role == MT_ROLE_SAMPLE && event->class == MT_CLASS_STORM &&
		    !event->attr.freq && !event->leader)
			err = mt_planner_enumerate(&names, event->alias);
	}
	if (err)
		return err;
	if (!names && !planner->by_time)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "-F: none of these events is sampled by time"),
				     "-c N takes one sample every N events");
	if (!names || rate == MT_FREQUENCY_MAX || planner->options->max_rate)
		return NULL;
	plan->storm_rate = rate;
	return mt_plan_note(plan, "-F %llu: %s: thinned to about as many samples a second",
			    (unsigned long long)rate, names);
}

static struct mt_error *plan_all(struct mt_planner *planner)
{
	const struct mt_record_options *options = planner->options;
	struct mt_error *err = plan_sideband(planner);

	for (size_t i = 0; i < options->events.count && !err; i++)
		err = mt_planner_list(planner, options->events.items[i]);
	if (!err && (options->custom_allocs.count || options->custom_frees.count) &&
	    !mt_plan_has_blocks(planner->plan))
		err = mt_planner_allocators(planner, false);
	if (!err && options->frequency)
		err = thin_storms(planner);
	err = err ? err : mt_planner_check_seen(planner);
	err = err ? err : mt_planner_finish_branches(planner);
	if (!err && options->action == MT_ACTION_COUNT && planner->no_calls)
		return MT_TAKE(planner->no_calls); /* nothing replaces the calls when counting */
	if (!err && options->action != MT_ACTION_COUNT)
		err = mt_planner_finish_marks(planner);
	err = err ? err : mt_planner_finish_calls(planner);
	err = err ? err : mt_planner_check_groups(planner);
	for (size_t i = 0; i < options->filters.count && !err; i++)
		err = plan_filter(planner->plan, &options->filters.items[i]);
	return err;
}

struct mt_error *mt_plan_create(const struct mt_record_options *options,
				const struct mt_perf_features *features,
				const struct mt_tracepoint_source *tracepoints,
				struct mt_plan **out)
{
	MT_CLEANUP(mt_plan_destroy_p) struct mt_plan *plan = calloc(1, sizeof(*plan));
	struct mt_planner planner = {
		.options = options, .features = features, .tracepoints = tracepoints, .plan = plan};
	struct mt_error *err = plan ? plan_all(&planner) : mt_error_nomem();

	mt_error_destroy(planner.no_calls);
	free(planner.calls);
	free(planner.missing);
	free(planner.refused);
	if (err)
		return err;
	*out = MT_TAKE(plan);
	return NULL;
}
