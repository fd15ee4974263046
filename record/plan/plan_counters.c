/*
 * Plans counters: words for events that are counted, not traced. A word is an alias of the table,
 * rNNN, or an event of a PMU, with perf's modifiers. Also plans branch records, which only hardware
 * events can have.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/records/events.h"
#include "record/cli/options.h"
#include "record/open/perf_event.h"
#include "record/plan/plan.h"
#include "record/plan/planner.h"
#include "record/plan/probe_word.h"
#include "record/tracepoints/tracepoint_source.h"

#define PRECISE_MAX 3

/*
 * Returns where the word's modifiers begin: after the last slash or at the first colon. Returns the
 * length if there are none.
 */
static size_t stem_length(const char *text, size_t length)
{
	const char *slash = memrchr(text, '/', length), *colon = memchr(text, ':', length);

	if (slash)
		return (size_t)(slash - text) + 1;
	return colon ? (size_t)(colon - text) : length;
}

static bool modify(char letter, struct mt_counter *counter)
{
	const struct {
		char letter;
		bool *flag;
	} flags[] = {
		{'u', &counter->user},	  {'k', &counter->kernel},    {'h', &counter->hypervisor},
		{'D', &counter->pinned},  {'e', &counter->exclusive}, {'S', &counter->read},
		{'W', &counter->weak},	  {'H', &counter->host},      {'G', &counter->guest},
		{'I', &counter->no_idle},
	};

	if (letter == 'p')
		return ++counter->precise <= PRECISE_MAX;
	if (letter == 'P')
		counter->precise = PRECISE_MAX;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (flags[i].letter == letter)
			return *flags[i].flag = true;
	}
	return letter == 'P';
}

struct mt_error *mt_counter_modify(const char *text, size_t length, const char *letters,
				   struct mt_counter *counter)
{
	struct mt_error *err;

	for (; letters < text + length && modify(*letters, counter); letters++)
		;
	if (letters == text + length)
		return NULL;
	err = mt_error_create(MT_ERR_USAGE, "bad modifier in '%.*s'", (int)length, text);
	if (*letters == 'b')
		return mt_error_hint(err, "b has a BPF program count, and mtrec loads none");
	return mt_error_hint(
		err,
		"counted events take :u (user only), :k (kernel only), :h (hypervisor), :p, :pp, "
		":ppp, :P (precise), :H (host only), :G (guests only), :I (not idle), :S (samples "
		"with the count; of a group, the first with those of all), :D (pinned), :e "
		"(exclusive) and :W (a group only where it can be one); syscalls take none");
}

static struct mt_error *parse_modifiers(const char *text, size_t length, size_t stem,
					struct mt_counter *counter)
{
	size_t at = stem + (stem < length && text[stem] == ':');
	bool good = at == stem ? stem == length || text[stem - 1] == '/' : at < length;

	return mt_counter_modify(text, length, text + (good ? at : stem), counter);
}

/* Parses r1a8, a raw event of the CPU by number. */
static bool parse_raw(const char *text, size_t length, uint64_t *config)
{
	char digits[17], *end;

	if (length < 2 || length > sizeof(digits) || text[0] != 'r')
		return false;
	memcpy(digits, text + 1, length - 1);
	digits[length - 1] = '\0';
	if (strspn(digits, "0123456789abcdefABCDEF") != length - 1)
		return false;
	*config = strtoull(digits, &end, 16);
	return true;
}

bool mt_planner_is_counter(const char *text, size_t length, const struct mt_event_def *def)
{
	uint64_t raw;

	if (def)
		return def->kind == MT_EVENT_HARDWARE || def->kind == MT_EVENT_SOFTWARE;
	return memchr(text, '/', length) || parse_raw(text, stem_length(text, length), &raw);
}

struct mt_error *mt_planner_find_counter(const struct mt_planner *planner, const char *text,
					 size_t length, const struct mt_event_def *def,
					 struct mt_counter *out)
{
	size_t stem = stem_length(text, length);
	const char *root = planner->tracepoints->pmu_root;
	struct mt_counter counter = {.type = PERF_TYPE_RAW, .by_time = true};
	struct mt_error *err = NULL;

	if (def)
		counter = (struct mt_counter){
			.type = def->type, .config = {def->config}, .by_time = def->by_time};
	else if (!parse_raw(text, stem, &counter.config[0]))
		err = mt_pmu_find(root ? root : MT_PMU_ROOT, text, stem, &counter);
	if (!err && stem < length)
		err = parse_modifiers(text, length, stem, &counter);
	counter.name_length = stem;
	if (!err)
		*out = counter;
	return err;
}

bool mt_counter_has_sides(const struct mt_counter *counter)
{
	return counter->user || counter->kernel || counter->hypervisor;
}

void mt_counter_apply_modifiers(const struct mt_counter *counter, struct perf_event_attr *attr)
{
	if (counter->precise)
		attr->precise_ip = counter->precise;
	attr->pinned |= counter->pinned;
	attr->exclusive |= counter->exclusive;
	attr->exclude_guest |= counter->host && !counter->guest;
	attr->exclude_host |= counter->guest && !counter->host;
	attr->exclude_idle |= counter->no_idle;
	if (!mt_counter_has_sides(counter))
		return;
	attr->exclude_user = !counter->user;
	attr->exclude_kernel |= !counter->kernel;
	attr->exclude_hv |= !counter->hypervisor;
}

void mt_counter_apply(const struct mt_counter *counter, struct perf_event_attr *attr)
{
	attr->type = counter->type;
	attr->config = counter->config[0];
	attr->config1 = counter->config[1];
	attr->config2 = counter->config[2];
	mt_counter_apply_modifiers(counter, attr);
}

static bool is_hardware(const struct mt_counter *counter)
{
	return counter->core || counter->type == PERF_TYPE_HARDWARE ||
	       counter->type == PERF_TYPE_HW_CACHE || counter->type == PERF_TYPE_RAW;
}

void mt_planner_ask_branches(struct mt_planner *planner, const struct mt_counter *counter,
			     struct perf_event_attr *attr)
{
	if (planner->options->call_graph != MT_GRAPH_LBR || !is_hardware(counter))
		return;
	planner->branches = true;
	attr->exclude_callchain_user = 1;
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
				   PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
}

struct mt_error *mt_planner_finish_branches(const struct mt_planner *planner)
{
	if (planner->branches || planner->options->call_graph != MT_GRAPH_LBR)
		return NULL;
	return mt_error_hint(
		mt_error_create(MT_ERR_USAGE, "branch records come with hardware events alone, and "
					      "none of these events is one"),
		"on software events and tracepoints the kernel refuses them: sample cycles, -e "
		"cycles --call-graph lbr");
}

/* Returns true for events that happen only in the kernel, whatever their cause. */
static bool is_kernels_own(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

struct mt_error *mt_planner_check_seen(const struct mt_planner *planner)
{
	for (size_t i = 1; i < planner->plan->events.count; i++) {
		const struct mt_planned_event *event = &planner->plan->events.items[i];

		if (planner->features->kernel_frames ||
		    (!event->attr.exclude_user && !is_kernels_own(&event->attr)))
			continue;
		return mt_error_hint(
			mt_error_create(MT_ERR_PERMISSION,
					"%s: it happens in the kernel, which this user may not see",
					event->alias),
			"run as root, give mtrec CAP_PERFMON, or have root run: sysctl "
			"kernel.perf_event_paranoid=1");
	}
	return NULL;
}
