/*
 * Plans events: converts event words to attributes. Opens no events and reads the kernel's state
 * only through its arguments.
 */
#include "record/plan/plan.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/nearest.h"
#include "record/cli/options.h"
#include "record/open/perf_event.h"
#include "record/plan/filter.h"
#include "record/plan/plan_parts.h"
#include "record/probes/probe_word.h"
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

static void event_deinit(struct mt_planned_event *event)
{
	free(event->name);
	free(event->alias);
	free(event->unit);
	free(event->format);
	free(event->filter);
	free(event->account);
}

void mt_plan_destroy(struct mt_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->events.count; i++)
		event_deinit(&plan->events.items[i]);
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
static struct perf_event_attr common_attr(const struct mt_planner *planner)
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
	/* Without it, 6.12.117 refuses tracepoints to users who may not see kernel frames. */
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
	bool frequency = by_time && !options->period; /* by time only */
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

/* Adds an event to the plan; takes name and format. */
static struct mt_error *add_event(struct mt_planner *planner, const struct mt_planned_event *event,
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
	if (!mt_attr_decode(&slot->attr, sizeof(slot->attr), &slot->decoded))
		return mt_error_create(MT_ERR_UNSUPPORTED, "%s: our own attr does not decode",
				       slot->name);
	return NULL;
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
		.attr = common_attr(planner),
	};

	/* new threads map files that the recorded threads execute */
	event.attr.inherit = !mt_options_target_cpus(planner->options);
	event.attr.type = PERF_TYPE_SOFTWARE;
	event.attr.config = features->dummy ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_ALIGNMENT_FAULTS;
	event.attr.sample_period = features->dummy ? 1 : INT64_MAX / 2;
	event.attr.mmap = 1;
	event.attr.mmap2 = features->mmap2;
	event.attr.comm = 1;
	event.attr.comm_exec = features->comm_exec;
	event.attr.task = 1;
	return add_event(planner, &event, "dummy", 5, "records");
}

static struct mt_error *plan_counter(struct mt_planner *planner, const struct mt_event_word *word)
{
	const struct mt_event_def *def = word->def;
	struct mt_planned_event event = {
		.role = MT_ROLE_SAMPLE,
		.pair = MT_EVENT_NONE,
		.class = def ? def->class : MT_CLASS_STORM,
		.attr = common_attr(planner),
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
	if (counter.read) { /* its counts must be in one place, so it gets no variants */
		event.attr.sample_type |= PERF_SAMPLE_READ;
		event.leader = (uint32_t)planner->plan->events.count;
	}
	return add_event(planner, &event, word->text, word->length, def ? def->unit : "events");
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
		.attr = common_attr(planner),
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
	return add_event(planner, &event, word->text, word->length,
			 word->def ? word->def->unit : "events");
}

static struct mt_error *unknown_event(const char *text, size_t length)
{
	struct mt_error *err =
		mt_error_create(MT_ERR_USAGE, "unknown event '%.*s'", (int)length, text);
	struct mt_nearest nearest = {.typed = text, .length = length};
	size_t count;
	const struct mt_event_def *defs = mt_event_defs(&count);

	for (size_t i = 0; i < count; i++)
		mt_nearest_offer(&nearest, defs[i].alias);
	return mt_error_hint(err,
			     "%s%s%smtrec --list shows the events; a tracepoint is written "
			     "subsystem:name",
			     nearest.best ? "did you mean " : "", nearest.best ? nearest.best : "",
			     nearest.best ? "? " : "");
}

/*
 * Returns true for a group that has the same name as its tracepoints' subsystem, e.g. compaction.
 */
static bool is_subsystem(const struct mt_event_def *def)
{
	size_t length = def ? strlen(def->alias) : 0;

	return def && def->kind == MT_EVENT_GROUP && !strncmp(def->members, def->alias, length) &&
	       def->members[length] == ':';
}

static struct mt_error *parse_word(const char *text, size_t length, struct mt_event_word *out)
{
	const char *colon = memchr(text, ':', length);
	size_t stem = colon ? (size_t)(colon - text) : length;
	struct mt_event_word word = {
		.text = text, .length = length, .def = mt_event_def_find(text, stem)};

	if (colon && is_subsystem(word.def))
		word.def = NULL;
	if (!length)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "-e: empty event name"),
				     "mtrec --list shows the events");
	word.counter = mt_planner_is_counter(text, length, word.def);
	if (!word.def && !colon && !word.counter)
		return unknown_event(text, length);
	if (word.def && colon && !word.counter)
		return mt_error_hint(
			mt_error_create(MT_ERR_USAGE, "bad modifier in '%.*s'", (int)length, text),
			"counted events take modifiers, as cycles:u; system calls and groups of "
			"events take none");
	*out = word;
	return NULL;
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

struct mt_error *mt_planner_word(struct mt_planner *planner, const char *text, size_t length)
{
	struct mt_event_word word;
	MT_CLEANUP_FREE char *name = NULL;
	struct mt_error *err;

	planner->read = planner->weak = planner->sided = false;
	if (mt_is_probe_word(text, length))
		return mt_planner_probe(planner, text, length);
	err = parse_word(text, length, &word);
	if (err || mt_planner_has(planner, MT_ROLE_SAMPLE, text, length))
		return err;
	if (word.def && word.def->kind == MT_EVENT_GROUP)
		return mt_planner_group(planner, word.def);
	if (word.def && word.def->kind == MT_EVENT_ALLOCATOR)
		return mt_planner_allocators(planner, true);
	if (word.def && word.def->kind == MT_EVENT_SYSCALL)
		return mt_planner_call(planner, &word);
	if (word.counter)
		return plan_counter(planner, &word);
	if (mt_planner_is_glob(text, length))
		return mt_planner_globs(planner, text, length);
	name = strndup(text, length);
	word.length = strcspn(name ? name : "", "="); /* an id after it is not part of the name */
	err = name ? mt_planner_tracepoint(planner, name, MT_ROLE_SAMPLE, &word) : mt_error_nomem();
	/* An unknown name is a usage error, as it is for a word without a colon. */
	if (err && err->kind == MT_ERR_NOT_FOUND && !planner->group)
		err->kind = MT_ERR_USAGE;
	return err;
}

struct mt_error *mt_planner_list(struct mt_planner *planner, const char *list)
{
	struct mt_error *err = NULL;
	size_t length;

	for (; !err; list += length + 1) {
		length = mt_planner_word_length(list);
		err = *list == '{' ? mt_planner_together(planner, list, length)
				   : mt_planner_word(planner, list, length);
		if (!list[length])
			break;
	}
	return err;
}

struct mt_error *mt_planner_note(struct mt_planner *planner, char *text)
{
	char **slot = text ? mt_array_push(&planner->plan->notes) : NULL;

	if (!slot) {
		free(text);
		return mt_error_nomem();
	}
	*slot = text;
	return NULL;
}

void mt_planner_drop_last(struct mt_planner *planner)
{
	event_deinit(&planner->plan->events.items[--planner->plan->events.count]);
}

bool mt_planner_is_fatal(const struct mt_error *err)
{
	return err->kind != MT_ERR_PERMISSION && err->kind != MT_ERR_NOT_FOUND;
}

struct mt_error *mt_planner_ask_data(struct mt_planner *planner)
{
	struct mt_planned_event *sideband = &planner->plan->events.items[0];

	sideband->attr.mmap_data = 1;
	return mt_attr_decode(&sideband->attr, sizeof(sideband->attr), &sideband->decoded)
		       ? NULL
		       : mt_error_nomem();
}

/*
 * Returns the word to which a --filter after `list` applies: the last of the list or of its braces.
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
 * Applies -F to events that are counted one by one: thins storm events to that many samples a
 * second.
 */
static struct mt_error *thin_storms(struct mt_planner *planner)
{
	struct mt_plan *plan = planner->plan;
	uint64_t rate = planner->options->frequency;
	MT_CLEANUP_FREE char *names = NULL;
	struct mt_error *err = NULL;
	char *text;

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
	if (asprintf(&text, "-F %llu: %s: thinned to about as many samples a second",
		     (unsigned long long)rate, names) < 0)
		text = NULL;
	return mt_planner_note(planner, text);
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
	if (!err)
		err = mt_planner_check_seen(planner);
	if (!err)
		err = mt_planner_finish_branches(planner);
	if (!err && options->action == MT_ACTION_COUNT && planner->no_calls)
		return MT_TAKE(planner->no_calls); /* nothing replaces a count */
	if (!err && options->action != MT_ACTION_COUNT)
		err = mt_planner_finish_marks(planner);
	if (!err)
		err = mt_planner_finish_calls(planner);
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
