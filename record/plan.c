/*
 * Planning: event words to attributes. Opens nothing, asks nothing of the kernel but through its
 * arguments.
 */
#include "record/plan.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/filter.h"
#include "record/options.h"
#include "record/perf_event.h"
#include "record/syscalls.h"
#include "record/targets.h"
#include "record/tracefs.h"

#define DEFAULT_FREQUENCY 1000
#define REGS_USER_X86_64                                                                          \
	0xff0fffull /* all but the segment registers DS, ES, FS, GS, which a 64-bit sample cannot \
		       have */
#define REGS_USER_AARCH64 0x1ffffffffull
#if defined(__aarch64__)
#define PERF_REG_SP 31
#else
#define PERF_REG_SP 7
#endif
/*
 * The producer is stopped so often: a batch that is still in the cache. A small ring wakes at a
 * quarter.
 */
#define WATERMARK (512u << 10)

struct planner {
	const struct mt_record_options *options;
	const struct mt_perf_features *features;
	const struct mt_tracepoint_source *tracepoints;
	struct mt_plan *plan;
	bool by_time;		   /* there is an event that -F means */
	struct mt_error *no_calls; /* why system calls cannot be recorded as such; NULL: they can */
	char *calls;		   /* which ones, for the note */
};

/* One word of -e: "brk", "page-faults:u", "sched:sched_switch". */
struct event_word {
	const char *text;
	size_t length;
	const struct mt_event_def *def; /* NULL: a tracepoint */
	bool exclude_kernel, exclude_user;
};

static void event_deinit(struct mt_planned_event *event)
{
	free(event->name);
	free(event->alias);
	free(event->unit);
	free(event->format);
	free(event->filter);
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

static uint64_t user_registers(void)
{
#if defined(__aarch64__)
	return REGS_USER_AARCH64;
#else
	return REGS_USER_X86_64;
#endif
}

/*
 * What every event has, side-band and samples alike: the fields that tell one record of a shared
 * ring from another.
 */
static struct perf_event_attr common_attr(const struct planner *planner)
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

	/*
	 * without an identifier in front, all events of a ring need the same fields up to their id
	 */
	attr.sample_type |= features->identifier
				    ? PERF_SAMPLE_IDENTIFIER
				    : PERF_SAMPLE_ID | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	attr.read_format =
		features->format_lost ? PERF_FORMAT_ID | PERF_FORMAT_LOST : PERF_FORMAT_ID;
	attr.exclude_kernel = !features->kernel_frames;
	attr.exclude_hv = !features->kernel_frames;
	attr.inherit = !mt_targets_are_cpus(planner->options) && !planner->options->no_inherit;
	attr.use_clockid = features->clockid;
	attr.clockid = features->clockid ? CLOCK_MONOTONIC : 0;
	return attr;
}

/* Stack, registers and callchain on top of common_attr(), as --call-graph says. */
static void ask_stack(const struct planner *planner, struct perf_event_attr *attr)
{
	const struct mt_record_options *options = planner->options;

	if (options->call_graph == MT_GRAPH_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (options->call_graph != MT_GRAPH_DWARF || !planner->features->user_stack)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = user_registers();
	attr->sample_stack_user = options->dump_size;
}

/* How often: -c, or -F for what is sampled by time. */
static void ask_rate(struct planner *planner, bool by_time, struct perf_event_attr *attr)
{
	const struct mt_record_options *options = planner->options;
	bool frequency = by_time && !options->period; /* never of what is counted one by one */

	planner->by_time |= by_time;
	attr->sample_period = options->period ? options->period : 1;
	if (frequency) {
		attr->freq = 1;
		attr->sample_freq = options->frequency ? options->frequency : DEFAULT_FREQUENCY;
	}
	/*
	 * On a fixed-period software event or tracepoint PERF_SAMPLE_PERIOD makes the kernel sample
	 * every event.
	 */
	if (frequency || attr->type == PERF_TYPE_HARDWARE)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
}

/* The registers stand just before the dump: how far back from there is the stack pointer? */
static size_t find_sp(const struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
		return 0;
	return 8u * (size_t)__builtin_popcountll(attr->sample_regs_user >> PERF_REG_SP);
}

/* Offsets of the fields that every sample of ours begins with, for the drain. */
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
static struct mt_error *add_event(struct planner *planner, const struct mt_planned_event *event,
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
 * Maps, comms, forks and exits: an event that counts nothing. Before 3.12 there is no dummy: an
 * event that hardly any machine ever raises, at a period beyond reach, serves.
 */
static struct mt_error *plan_sideband(struct planner *planner)
{
	const struct mt_perf_features *features = planner->features;
	struct mt_planned_event event = {
		.role = MT_ROLE_SIDEBAND,
		.pair = MT_EVENT_NONE,
		.class = MT_CLASS_RARE,
		.name = strdup("dummy"),
		.attr = common_attr(planner),
	};

	/* threads started later map files for those that are recorded */
	event.attr.inherit = !mt_targets_are_cpus(planner->options);
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

static struct mt_error *plan_counter(struct planner *planner, const struct event_word *word)
{
	const struct mt_event_def *def = word->def;
	struct mt_planned_event event = {
		.role = MT_ROLE_SAMPLE,
		.pair = MT_EVENT_NONE,
		.class = def->class,
		.name = strdup(def->alias),
		.attr = common_attr(planner),
	};

	event.attr.type = def->kind == MT_EVENT_HARDWARE ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
	event.attr.config = def->config;
	event.attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	event.attr.exclude_kernel |= word->exclude_kernel;
	event.attr.exclude_user = word->exclude_user;
	ask_stack(planner, &event.attr);
	ask_rate(planner, def->by_time, &event.attr);
	return add_event(planner, &event, word->text, word->length, def->unit);
}

static struct mt_error *plan_tracepoint(struct planner *planner, const char *name,
					enum mt_event_role role, const struct event_word *word)
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

/*
 * Both ends of a call: the exit record with stack and result, the enter record as its time mark. -c
 * above 1 thins the exits; the marks stay whole.
 */
static struct mt_error *plan_pair(struct planner *planner, const char *exit_name,
				  const char *enter_name, const struct event_word *word)
{
	struct mt_planned_event *events;
	uint32_t exit_index = (uint32_t)planner->plan->events.count;
	struct mt_error *err = plan_tracepoint(planner, exit_name, MT_ROLE_SAMPLE, word);

	if (err)
		return err;
	err = plan_tracepoint(planner, enter_name, MT_ROLE_MARK, word);
	events = planner->plan->events.items;
	if (err) {
		event_deinit(&events[--planner->plan->events.count]);
		return err;
	}
	events[exit_index].pair = exit_index + 1;
	events[exit_index + 1].pair = exit_index;
	return NULL;
}

/* Neither forbidden nor absent: an error of ours, or of the user's. */
static bool is_fatal(const struct mt_error *err)
{
	return err->kind != MT_ERR_PERMISSION && err->kind != MT_ERR_NOT_FOUND;
}

/* Registers tell the ABI, and with it whose numbers these are; one of them suffices. */
static void ask_abi(struct mt_planned_event *event)
{
	if (event->attr.sample_type & PERF_SAMPLE_REGS_USER)
		return;
	event->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	event->attr.sample_regs_user = 1u << PERF_REG_SP;
}

static struct mt_error *filter_call(const struct planner *planner, struct mt_planned_event *event,
				    long number)
{
	if (asprintf(&event->filter, "id == %ld", number) < 0) {
		event->filter = NULL;
		return mt_error_nomem();
	}
	if (planner->features->user_stack)
		ask_abi(event);
	event->decoded.sample_type = event->attr.sample_type;
	event->decoded.sample_regs_user = event->attr.sample_regs_user;
	return NULL;
}

/*
 * The tracepoints that all system calls share, filtered by number: there where syscalls:* are not
 * (no CONFIG_FTRACE_SYSCALLS). 32-bit callers have numbers of their own; what they do under ours is
 * told from it by the ABI of the registers.
 */
static struct mt_error *plan_raw_syscall(struct planner *planner, const struct event_word *word)
{
	size_t first = planner->plan->events.count;
	struct mt_error *err;
	long number;

	if (!mt_syscall_number(word->def->alias, &number))
		return mt_error_create(MT_ERR_NOT_FOUND, "%s: no such system call here",
				       word->def->alias);
	err = plan_pair(planner, "raw_syscalls:sys_exit", "raw_syscalls:sys_enter", word);
	for (size_t i = first; i < first + 2 && !err; i++)
		err = filter_call(planner, &planner->plan->events.items[i], number);
	return err;
}

/* Remembers a call that cannot be recorded as such, and why the first one cannot. Takes why. */
static struct mt_error *give_up_call(struct planner *planner, const struct event_word *word,
				     struct mt_error *why)
{
	char *calls = NULL;

	if (asprintf(&calls, "%s%s%s", planner->calls ? planner->calls : "",
		     planner->calls ? ", " : "", word->def->alias) < 0)
		calls = NULL;
	free(planner->calls);
	planner->calls = calls;
	if (planner->no_calls)
		mt_error_destroy(why);
	else
		planner->no_calls = why;
	return calls ? NULL : mt_error_nomem();
}

/* The ladder of events that tell of a system call. */
static struct mt_error *plan_syscall(struct planner *planner, const struct event_word *word)
{
	char exit_name[128], enter_name[128];
	struct mt_error *err, *raw;

	snprintf(exit_name, sizeof(exit_name), "syscalls:sys_exit_%s", word->def->alias);
	snprintf(enter_name, sizeof(enter_name), "syscalls:sys_enter_%s", word->def->alias);
	err = plan_pair(planner, exit_name, enter_name, word);
	if (!err || is_fatal(err))
		return err;
	raw = plan_raw_syscall(planner, word);
	if (raw && !is_fatal(raw)) {
		mt_error_destroy(raw);
		return give_up_call(planner, word, err);
	}
	mt_error_destroy(err);
	return raw;
}

static struct mt_error *unknown_event(const char *text, size_t length)
{
	return mt_error_hint(
		mt_error_create(MT_ERR_USAGE, "unknown event '%.*s'", (int)length, text),
		"mtrec --list shows the events; a tracepoint is written subsystem:name");
}

/* What stands behind the colon of a known alias: u (user only), k (kernel only). */
static bool parse_modifiers(const char *text, size_t length, struct event_word *word)
{
	bool user = false, kernel = false;

	for (size_t i = 0; i < length; i++) {
		user |= text[i] == 'u';
		kernel |= text[i] == 'k';
		if (text[i] != 'u' && text[i] != 'k')
			return false;
	}
	word->exclude_kernel = user && !kernel;
	word->exclude_user = kernel && !user;
	return length && word->def->kind != MT_EVENT_SYSCALL;
}

static struct mt_error *parse_word(const char *text, size_t length, struct event_word *out)
{
	const char *colon = memchr(text, ':', length);
	size_t stem = colon ? (size_t)(colon - text) : length;
	struct event_word word = {
		.text = text, .length = length, .def = mt_event_def_find(text, stem)};

	if (!length)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "-e: empty event name"),
				     "mtrec --list shows the events");
	if (!word.def && !colon)
		return unknown_event(text, length);
	if (word.def && colon && !parse_modifiers(colon + 1, length - stem - 1, &word))
		return mt_error_hint(
			mt_error_create(MT_ERR_USAGE, "bad modifier in '%.*s'", (int)length, text),
			"counted events take :u (user only) and :k (kernel only); syscalls take "
			"none");
	*out = word;
	return NULL;
}

static bool already_planned(const struct mt_plan *plan, const struct event_word *word)
{
	for (size_t i = 1; i < plan->events.count; i++) {
		const char *alias = plan->events.items[i].alias;

		if (strlen(alias) == word->length && !memcmp(alias, word->text, word->length))
			return true;
	}
	return false;
}

static struct mt_error *plan_word(struct planner *planner, const char *text, size_t length)
{
	struct event_word word;
	MT_CLEANUP_FREE char *name = NULL;
	struct mt_error *err = parse_word(text, length, &word);

	if (err || already_planned(planner->plan, &word))
		return err;
	if (word.def && word.def->kind == MT_EVENT_SYSCALL)
		return plan_syscall(planner, &word);
	if (word.def)
		return plan_counter(planner, &word);
	name = strndup(text, length);
	word.length = strcspn(name ? name : "", "="); /* an id behind it is no part of the name */
	return name ? plan_tracepoint(planner, name, MT_ROLE_SAMPLE, &word) : mt_error_nomem();
}

static struct mt_error *plan_list(struct planner *planner, const char *list)
{
	struct mt_error *err = NULL;
	size_t length;

	for (; !err; list += length + 1) {
		length = strcspn(list, ",");
		err = plan_word(planner, list, length);
		if (!list[length])
			break;
	}
	return err;
}

static struct mt_error *add_note(struct mt_plan *plan, char *text)
{
	char **slot = text ? mt_array_push(&plan->notes) : NULL;

	if (!slot) {
		free(text);
		return mt_error_nomem();
	}
	*slot = text;
	return NULL;
}

static bool has_page_faults(const struct mt_plan *plan)
{
	for (size_t i = 1; i < plan->events.count; i++) {
		const struct perf_event_attr *attr = &plan->events.items[i].attr;

		if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_PAGE_FAULTS)
			return true;
	}
	return false;
}

/*
 * Where no tracepoint tells of system calls: page faults with their addresses say what was touched,
 * by which stack, and the side-band's mmap records, now of data too, what was mapped and where the
 * heap grew.
 */
static struct mt_error *stand_in_for_calls(struct planner *planner)
{
	struct mt_error *err =
		has_page_faults(planner->plan) ? NULL : plan_list(planner, "page-faults");
	struct mt_planned_event *sideband = &planner->plan->events.items[0];
	char *text = NULL;

	if (err)
		return err;
	sideband->attr.mmap_data = 1;
	if (!mt_attr_decode(&sideband->attr, sizeof(sideband->attr), &sideband->decoded))
		return mt_error_nomem();
	if (asprintf(&text,
		     "page faults and the kernel's mmap records stand in for %s; what was unmapped "
		     "stays untold (%s): %s",
		     planner->calls, planner->no_calls->message,
		     planner->no_calls->hint ? planner->no_calls->hint : "see mtrec --check") < 0)
		text = NULL;
	return add_note(planner->plan, text);
}

/* Says that calls come from raw_syscalls, and what that costs. */
static struct mt_error *note_raw_calls(struct planner *planner)
{
	for (size_t i = 0; i < planner->plan->events.count; i++) {
		if (planner->plan->events.items[i].filter)
			return add_note(planner->plan,
					strdup("this kernel has no syscalls:* tracepoints: "
					       "raw_syscalls with a filter serve; calls of 32-bit "
					       "programs are left out"));
	}
	return NULL;
}

/* The event that a filter is for: the sampled one of its word. */
static struct mt_planned_event *filtered_event(struct mt_plan *plan, const char *word)
{
	size_t length = strcspn(word, ",");

	for (size_t i = 1; i < plan->events.count; i++) {
		struct mt_planned_event *event = &plan->events.items[i];

		if (event->role == MT_ROLE_SAMPLE && strlen(event->alias) == length &&
		    !memcmp(event->alias, word, length))
			return event;
	}
	return NULL;
}

static struct mt_error *plan_filter(struct mt_plan *plan, const struct mt_filter_option *option)
{
	struct mt_planned_event *event = filtered_event(plan, option->event);

	if (event && event->attr.type == PERF_TYPE_TRACEPOINT)
		return mt_filter_add(&event->filter, option->expression);
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--filter: %.*s is no tracepoint",
					     (int)strcspn(option->event, ","), option->event),
			     "it goes behind the -e of a tracepoint or a system call: -e brk "
			     "--filter 'ret > 0'");
}

static struct mt_error *plan_all(struct planner *planner)
{
	const struct mt_record_options *options = planner->options;
	struct mt_error *err = plan_sideband(planner);

	for (size_t i = 0; i < options->events.count && !err; i++)
		err = plan_list(planner, options->events.items[i]);
	if (!err && options->frequency && !planner->by_time)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "-F: none of these events is sampled by time"),
				     "-c N takes one sample every N events");
	if (!err && planner->no_calls)
		err = stand_in_for_calls(planner);
	if (!err)
		err = note_raw_calls(planner);
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
	struct planner planner = {
		.options = options, .features = features, .tracepoints = tracepoints, .plan = plan};
	struct mt_error *err = plan ? plan_all(&planner) : mt_error_nomem();

	mt_error_destroy(planner.no_calls);
	free(planner.calls);
	if (err)
		return err;
	*out = MT_TAKE(plan);
	return NULL;
}
