/*
 * Adds events to a plan: counters and tracepoints with the attributes that the options request, and
 * notes for the user.
 */
#include "record/plan/planner.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "record/cli/options.h"
#include "record/open/perf_event.h"
#include "record/plan/plan.h"
#include "record/tracepoints/tracefs.h"
#include "record/tracepoints/tracepoint_source.h"

#define TIMER_LEAST 10000 /* ns; the shortest interval of the kernel's timers */
#define DEFAULT_FREQUENCY 1000
#define REGS_USER_X86_64 0xff0fffull /* all but DS, ES, FS, GS (none in 64-bit samples) */
#define REGS_USER_AARCH64 0x1ffffffffull
/*
 * Each wakeup of a ring wakes two threads, its drain and the drain's helper; one of them runs on
 * the producer's CPU. At 512 KiB the wakeups cost a third as much per sample as the drains' other
 * work. A smaller ring wakes its drain when it is a quarter full.
 */
#define WATERMARK (2u << 20)

void mt_planned_event_deinit(struct mt_planned_event *event)
{
	free(event->name);
	free(event->alias);
	free(event->unit);
	free(event->format);
	free(event->filter);
	free(event->account);
}

static uint64_t user_registers(void)
{
#if defined(__aarch64__)
	return REGS_USER_AARCH64;
#else
	return REGS_USER_X86_64;
#endif
}

/*
 * Attributes that every event has, side-band and samples alike: the fields that distinguish the
 * records of a shared ring.
 */
struct perf_event_attr mt_planner_attr(const struct mt_planner *planner)
{
	const struct mt_perf_features *features = planner->features;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.disabled = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = WATERMARK,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	};

	/* without a leading identifier, all events of a ring need the same fields up to their id */
	attr.sample_type |= features->identifier
				    ? PERF_SAMPLE_IDENTIFIER
				    : PERF_SAMPLE_ID | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	attr.read_format =
		features->format_lost ? PERF_FORMAT_ID | PERF_FORMAT_LOST : PERF_FORMAT_ID;
	attr.exclude_kernel = !features->kernel_frames;
	attr.exclude_hv = !features->kernel_frames;
	/*
	 * Without this, Linux 6.12.117 refuses tracepoints to users who may not see kernel frames.
	 */
	attr.exclude_callchain_kernel = !features->kernel_frames;
	attr.inherit = !mt_options_target_cpus(planner->options) && !planner->options->no_inherit;
	attr.use_clockid = features->clockid;
	attr.clockid = features->clockid ? CLOCK_MONOTONIC : 0;
	return attr;
}

/* Adds stack, registers and callchain to the attributes, as --call-graph requests. */
static void ask_stack(const struct mt_planner *planner, struct perf_event_attr *attr)
{
	const struct mt_record_options *options = planner->options;

	if (options->call_graph == MT_GRAPH_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (!options->dump_size || !planner->features->user_stack)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = user_registers();
	attr->sample_stack_user = options->dump_size;
}

/* Sets the period from -c, or the frequency from -F for events that are sampled by time. */
static void ask_rate(struct mt_planner *planner, bool by_time, struct perf_event_attr *attr)
{
	const struct mt_record_options *options = planner->options;
	bool frequency = by_time && !options->period; /* not by period */
	uint64_t rate = options->frequency;

	planner->by_time |= by_time;
	attr->sample_period = options->period ? options->period : 1;
	if (by_time && attr->type == PERF_TYPE_SOFTWARE && attr->sample_period < TIMER_LEAST)
		attr->sample_period = TIMER_LEAST;
	if (rate == MT_FREQUENCY_MAX)
		rate = planner->features->max_rate;
	if (frequency) {
		attr->freq = 1;
		attr->sample_freq = rate ? rate : DEFAULT_FREQUENCY;
	}
	/*
	 * For a fixed-period software event or tracepoint, PERF_SAMPLE_PERIOD makes the kernel
	 * sample every event.
	 */
	if (frequency || attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	    attr->type == PERF_TYPE_RAW)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
}

/* period= and freq= of an event override -c and -F. */
static void apply_own_rate(const struct mt_counter *counter, struct perf_event_attr *attr)
{
	if (!counter->period && !counter->frequency)
		return;
	attr->freq = counter->frequency != 0;
	attr->sample_period = counter->frequency ? counter->frequency : counter->period;
}

/* Applies --all-user and --all-kernel; tracepoints ignore them. */
static void apply_levels(const struct mt_record_options *options, struct perf_event_attr *attr)
{
	if (!options->all_user && !options->all_kernel)
		return;
	attr->exclude_user = options->all_kernel;
	attr->exclude_kernel = attr->exclude_hv = options->all_user;
}

/*
 * Returns the distance from the stack pointer in a sample to the dump; registers precede the dump.
 */
static size_t find_sp(const struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
		return 0;
	return 8u * (size_t)__builtin_popcountll(attr->sample_regs_user >> MT_PERF_REG_SP);
}

/* Computes the offsets of the fields at the start of every sample, for the drain. */
static void find_offsets(struct mt_planned_event *event)
{
	bool first = event->attr.sample_type & PERF_SAMPLE_IDENTIFIER;
	size_t at = sizeof(struct perf_event_header);

	event->id_offset = at;
	at += first ? 8 : 0;
	at += event->attr.sample_type & PERF_SAMPLE_IP ? 8 : 0;
	event->pid_offset = at;
	event->time_offset = at + 8;
	at += 16;
	at += event->attr.sample_type & PERF_SAMPLE_ADDR ? 8 : 0;
	event->id_offset = first ? event->id_offset : at;
}

struct mt_error *mt_planned_event_decode(struct mt_planned_event *event)
{
	if (mt_attr_decode(&event->attr, sizeof(event->attr), &event->decoded))
		return NULL;
	return mt_error_create(MT_ERR_UNSUPPORTED, "%s: our own attr does not decode", event->name);
}

struct mt_error *mt_planner_add(struct mt_planner *planner, const struct mt_planned_event *event,
				const char *alias, size_t alias_length, const char *unit)
{
	struct mt_planned_event *slot = mt_array_push(&planner->plan->events);

	if (!slot)
		return mt_error_nomem();
	*slot = *event;
	slot->full = (uint32_t)planner->plan->events.count - 1;
	slot->alias = strndup(alias, alias_length);
	slot->unit = strdup(unit);
	if (!slot->name || !slot->alias || !slot->unit)
		return mt_error_nomem();
	find_offsets(slot);
	slot->sp_back = find_sp(&slot->attr);
	return mt_planned_event_decode(slot);
}

struct mt_error *mt_planner_counter(struct mt_planner *planner, const struct mt_event_word *word)
{
	const struct mt_event_def *def = word->def;
	struct mt_planned_event event = {
		.role = MT_ROLE_SAMPLE,
		.pair = MT_EVENT_NONE,
		.class = def ? def->class : MT_CLASS_STORM,
		.attr = mt_planner_attr(planner),
	};
	struct mt_counter counter;
	struct mt_error *err =
		mt_planner_find_counter(planner, word->text, word->length, def, &counter);

	if (err)
		return err;
	event.name = strndup(word->text, counter.name_length);
	mt_counter_apply(&counter, &event.attr);
	apply_levels(planner->options, &event.attr);
	planner->read = counter.read;
	planner->weak = counter.weak;
	planner->sided = mt_counter_has_sides(&counter);
	event.attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	ask_stack(planner, &event.attr);
	mt_planner_ask_branches(planner, &counter, &event.attr);
	ask_rate(planner, counter.by_time, &event.attr);
	apply_own_rate(&counter, &event.attr);
	if (counter.read) { /* the counts must be in one place, so the event gets no variants */
		event.attr.sample_type |= PERF_SAMPLE_READ;
		event.leader = (uint32_t)planner->plan->events.count;
	}
	return mt_planner_add(planner, &event, word->text, word->length,
			      def ? def->unit : "events");
}

struct mt_error *mt_planner_tracepoint(struct mt_planner *planner, const char *name,
				       enum mt_event_role role, const struct mt_event_word *word)
{
	struct mt_tracepoint tracepoint = {0};
	struct mt_error *err =
		planner->tracepoints->find(planner->tracepoints->context, name, &tracepoint);
	struct mt_planned_event event = {
		.role = role,
		.pair = MT_EVENT_NONE,
		.class = word->def ? word->def->class : MT_CLASS_STORM,
		.format = tracepoint.format,
		.attr = mt_planner_attr(planner),
	};

	if (err)
		return err;
	if (tracepoint.refused && word->def) {
		free(tracepoint.format);
		return mt_error_create(MT_ERR_PERMISSION,
				       "it needs CAP_PERFMON, or perf_event_paranoid -1");
	}
	event.name = strndup(name, strcspn(name, "="));
	event.attr.type = PERF_TYPE_TRACEPOINT;
	event.attr.config = tracepoint.id;
	event.attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_RAW;
	event.attr.sample_period = 1;
	if (role == MT_ROLE_SAMPLE) {
		ask_stack(planner, &event.attr);
		ask_rate(planner, false, &event.attr);
	}
	return mt_planner_add(planner, &event, word->text, word->length,
			      word->def ? word->def->unit : "events");
}

bool mt_planner_has(const struct mt_planner *planner, enum mt_event_role role, const char *alias,
		    size_t length)
{
	for (size_t i = 1; i < planner->plan->events.count; i++) {
		const struct mt_planned_event *event = &planner->plan->events.items[i];

		if (event->role == role && strlen(event->alias) == length &&
		    !memcmp(event->alias, alias, length))
			return true;
	}
	return false;
}

struct mt_error *mt_plan_note(struct mt_plan *plan, const char *format, ...)
{
	char **slot = mt_array_push(&plan->notes);
	va_list ap;
	int size;

	if (!slot)
		return mt_error_nomem();
	va_start(ap, format);
	size = vasprintf(slot, format, ap);
	va_end(ap);
	if (size >= 0)
		return NULL;
	plan->notes.count--;
	return mt_error_nomem();
}

struct mt_planned_event *mt_planner_last(const struct mt_planner *planner)
{
	return &planner->plan->events.items[planner->plan->events.count - 1];
}

void mt_planner_drop_last(struct mt_planner *planner)
{
	mt_planned_event_deinit(&planner->plan->events.items[--planner->plan->events.count]);
}

bool mt_planner_is_fatal(const struct mt_error *err)
{
	return err->kind != MT_ERR_PERMISSION && err->kind != MT_ERR_NOT_FOUND;
}

struct mt_error *mt_planner_ask_data(struct mt_planner *planner)
{
	struct mt_planned_event *sideband = &planner->plan->events.items[0];

	sideband->attr.mmap_data = 1;
	return mt_planned_event_decode(sideband);
}

struct mt_error *mt_planner_enumerate(char **list, const char *name)
{
	char *longer = mt_format("%s%s%s", *list ? *list : "", *list ? ", " : "", name);

	if (!longer)
		return mt_error_nomem();
	free(*list);
	*list = longer;
	return NULL;
}
