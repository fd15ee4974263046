/*
 * Plans the words of -e. A word names one event, several events of the event table, or every
 * tracepoint that matches a pattern; a list has words and groups in braces.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/base/nearest.h"
#include "formats/records/events.h"
#include "record/cli/options.h"
#include "record/open/perf_event.h"
#include "record/plan/plan.h"
#include "record/plan/planner.h"
#include "record/plan/probe_word.h"
#include "record/tracepoints/tracepoint_source.h"

size_t mt_planner_word_length(const char *list)
{
	bool is_probe = mt_is_probe_word(list, strlen(list)); /* the slashes belong to a path */
	bool in_terms = false, in_braces = false;
	size_t n = 0, depth = 0;

	for (; list[n] && (list[n] != ',' || in_terms || in_braces || depth); n++) {
		in_terms ^= list[n] == '/' && !is_probe;
		in_braces = list[n] == '{' || (in_braces && list[n] != '}');
		depth += list[n] == '(';
		depth -= list[n] == ')' && depth;
	}
	return n;
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

static struct mt_error *plan_word(struct mt_planner *planner, const char *text, size_t length);

/* ---- Patterns ---- */

enum {
	MATCHES_MOST = 256, /* each match needs a descriptor on every CPU */
};

struct matches {
	const char *pattern;
	MT_ARRAY(char *) names;
	bool failed;
};

static void matches_deinit(struct matches *matches)
{
	for (size_t i = 0; i < matches->names.count; i++)
		free(matches->names.items[i]);
	mt_array_deinit(&matches->names);
}

bool mt_planner_is_glob(const char *text, size_t length)
{
	return memchr(text, ':', length) && strcspn(text, "*?[") < length;
}

static bool take_match(void *context, const char *name)
{
	struct matches *matches = context;
	char **slot;

	if (fnmatch(matches->pattern, name, 0))
		return true;
	slot = mt_array_push(&matches->names);
	if (slot)
		*slot = strdup(name);
	matches->failed = !slot || !*slot;
	return !matches->failed && matches->names.count <= MATCHES_MOST;
}

static struct mt_error *find_matches(const struct mt_planner *planner, struct matches *matches)
{
	const struct mt_tracepoint_source *source = planner->tracepoints;
	struct mt_error *err = source->each(source->context, take_match, matches);

	if (err)
		return err;
	if (matches->failed)
		return mt_error_nomem();
	if (!matches->names.count)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "unknown event '%s': no tracepoint matches",
						     matches->pattern),
				     "mtrec --list shows the events");
	if (matches->names.count > MATCHES_MOST)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "'%s' matches more than %d tracepoints",
						     matches->pattern, MATCHES_MOST),
				     "mtrec --list PATTERN shows them");
	return NULL;
}

static struct mt_error *plan_matches(struct mt_planner *planner, const char *text, size_t length)
{
	MT_CLEANUP_FREE char *pattern = strndup(text, length);
	MT_CLEANUP(matches_deinit) struct matches matches = {.pattern = pattern};
	struct mt_error *err = pattern ? find_matches(planner, &matches) : mt_error_nomem();

	for (size_t i = 0; i < matches.names.count && !err; i++)
		err = plan_word(planner, matches.names.items[i], strlen(matches.names.items[i]));
	return err;
}

/* ---- Groups of the event table ---- */

/* Adds the name to a note that all absent members share. */
static struct mt_error *note_absent(struct mt_planner *planner, const char *name, size_t length)
{
	struct mt_plan *plan = planner->plan;
	char **last = plan->notes.count ? &plan->notes.items[plan->notes.count - 1] : NULL;
	MT_CLEANUP_FREE char *begin = mt_format("%s: this machine has no ", planner->group->alias);
	char *text;

	planner->lacking = planner->group->alias;
	if (!begin)
		return mt_error_nomem();
	if (!last || strncmp(*last, begin, strlen(begin)) != 0)
		return mt_plan_note(plan, "%s%.*s", begin, (int)length, name);
	text = mt_format("%s, %.*s", *last, (int)length, name);
	if (!text)
		return mt_error_nomem();
	free(*last);
	*last = text;
	return NULL;
}

/* Adds the help text of a member that needs privileges to the note that such members share. */
static struct mt_error *add_refused(struct mt_planner *planner, const struct mt_event_def *def)
{
	if (planner->refused && strstr(planner->refused, def->help))
		return NULL;
	return mt_planner_enumerate(&planner->refused, def->help);
}

struct mt_error *mt_planner_check_groups(const struct mt_planner *planner)
{
	if (planner->plan->events.count > 1 || !planner->lacking)
		return NULL;
	return mt_error_hint(mt_error_create(MT_ERR_UNSUPPORTED,
					     "%s: this machine has none of its events",
					     planner->lacking),
			     "mtrec --check shows what it has");
}

static bool is_reported_each(const struct mt_tracepoint_source *tracepoints)
{
	return tracepoints->rss_each && tracepoints->rss_each(tracepoints->context);
}

static struct mt_error *plan_mark_or_note(struct mt_planner *planner,
					  const struct mt_event_word *word)
{
	struct mt_error *err;

	if (planner->options->action == MT_ACTION_COUNT || /* a mark is not counted */
	    mt_planner_has(planner, MT_ROLE_MARK, word->text, word->length) ||
	    (word->def->batched && is_reported_each(planner->tracepoints)))
		return NULL;
	err = mt_planner_mark(planner, word);
	if (err && !mt_planner_is_fatal(err)) {
		struct mt_error *noted =
			err->kind == MT_ERR_NOT_FOUND
				? mt_plan_note(planner->plan, "%s: this kernel has no %s: %s",
					       planner->group->alias, word->def->alias,
					       word->def->help)
				: add_refused(planner, word->def);

		mt_error_destroy(err);
		return noted;
	}
	return err;
}

/* Plans "subsystem:name/FILTER/": the filtered tracepoint under the group's alias. */
static struct mt_error *plan_filtered(struct mt_planner *planner, const char *text, size_t length)
{
	const char *alias = planner->group->alias, *slash = memchr(text, '/', length);
	const struct mt_event_word word = {.text = alias, .length = strlen(alias)};
	MT_CLEANUP_FREE char *name = strndup(text, (size_t)(slash - text));
	struct mt_error *err;
	char **filter;

	if (mt_planner_has(planner, MT_ROLE_SAMPLE, word.text, word.length))
		return NULL;
	err = name ? mt_planner_tracepoint(planner, name, MT_ROLE_SAMPLE, &word) : mt_error_nomem();
	if (err)
		return err;
	filter = &mt_planner_last(planner)->filter;
	*filter = strndup(slash + 1, (size_t)(text + length - slash) - 2);
	return *filter ? NULL : mt_error_nomem();
}

/* Plans a hardware event; MT_ERR_NOT_FOUND if the machine does not have it. */
static struct mt_error *plan_hardware(struct mt_planner *planner, const char *text, size_t length)
{
	const struct mt_tracepoint_source *source = planner->tracepoints;
	size_t before = planner->plan->events.count;
	struct mt_error *err = plan_word(planner, text, length);

	if (err || planner->plan->events.count == before || !source->together ||
	    planner->options->action == MT_ACTION_COUNT || /* its row of --stat reports it */
	    source->together(source->together_context, &planner->plan->events.items[before].attr,
			     1))
		return err;
	mt_planner_drop_last(planner);
	return mt_error_create(MT_ERR_NOT_FOUND, "%.*s: this machine does not count it",
			       (int)length, text);
}

static struct mt_error *plan_member_word(struct mt_planner *planner,
					 const struct mt_event_word *word)
{
	if (word->def && word->def->kind == MT_EVENT_HARDWARE)
		return plan_hardware(planner, word->text, word->length);
	if (!word->def && memchr(word->text, '/', word->length))
		return plan_filtered(planner, word->text, word->length);
	return plan_word(planner, word->text, word->length);
}

static struct mt_error *plan_group_member(struct mt_planner *planner, const char *text,
					  size_t length)
{
	struct mt_event_word word = {
		.text = text, .length = length, .def = mt_event_def_find(text, length)};
	struct mt_error *err;

	if (word.def && word.def->kind == MT_EVENT_MARK)
		return plan_mark_or_note(planner, &word);
	err = plan_member_word(planner, &word);
	if (err && err->kind == MT_ERR_NOT_FOUND &&
	    (!word.def || word.def->kind == MT_EVENT_HARDWARE)) {
		mt_error_destroy(err);
		err = note_absent(planner, text, length);
	}
	return err;
}

static struct mt_error *plan_group(struct mt_planner *planner, const struct mt_event_def *group)
{
	const struct mt_event_def *outer = planner->group;
	bool vm = !strcmp(group->alias, "vm"), keeps = vm || !strcmp(group->alias, "rss");
	struct mt_error *err = keeps ? mt_planner_ask_data(planner) : NULL;
	size_t length;

	planner->group = group;
	planner->has_vm |= vm;
	for (const char *word = group->members; *word && !err;
	     word += length + (word[length] == ',')) {
		length = strcspn(word, ",");
		err = plan_group_member(planner, word, length);
	}
	planner->group = outer;
	return err;
}

/* ---- One word ---- */

static struct mt_error *plan_word(struct mt_planner *planner, const char *text, size_t length)
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
		return plan_group(planner, word.def);
	if (word.def && word.def->kind == MT_EVENT_ALLOCATOR)
		return mt_planner_allocators(planner, true);
	if (word.def && word.def->kind == MT_EVENT_SYSCALL)
		return mt_planner_call(planner, &word);
	if (word.counter)
		return mt_planner_counter(planner, &word);
	if (mt_planner_is_glob(text, length))
		return plan_matches(planner, text, length);
	name = strndup(text, length);
	word.length = strcspn(name ? name : "", "="); /* an id after "=" is not part of the name */
	err = name ? mt_planner_tracepoint(planner, name, MT_ROLE_SAMPLE, &word) : mt_error_nomem();
	/* An unknown name is a usage error, as it is for a word without a colon. */
	if (err && err->kind == MT_ERR_NOT_FOUND && !planner->group)
		err->kind = MT_ERR_USAGE;
	return err;
}

/* ---- Groups in braces ---- */

enum {
	MEMBERS_MAX = 20, /* more than any CPU counts at a time; the size of read buffers */
};

/* Parses the modifiers after the closing brace. */
static struct mt_error *parse_modifiers(const char *text, size_t length, const char *end,
					struct mt_counter *out)
{
	size_t left = (size_t)(text + length - end) - 1;

	return mt_counter_modify(text, length, left > 1 && end[1] == ':' ? end + 2 : end + 1, out);
}

static struct mt_error *not_one(const char *text, size_t length)
{
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "-e: '%.*s' cannot be part of a group",
					     (int)length, text),
			     "each word between the braces is one event, counted or a tracepoint, "
			     "and asked for once");
}

/*
 * Applies the group's modifiers to a member. Levels of the member add to those of the group, as in
 * perf: {a:u,b}:k counts a at both levels.
 */
static void apply_group(const struct mt_planner *planner, const struct mt_counter *group,
			struct perf_event_attr *attr)
{
	const struct perf_event_attr own = *attr;

	mt_counter_apply_modifiers(group, attr);
	if (!planner->sided || !mt_counter_has_sides(group))
		return;
	attr->exclude_user = own.exclude_user && !group->user;
	if (!planner->features->kernel_frames)
		return;
	attr->exclude_kernel = own.exclude_kernel && !group->kernel;
	attr->exclude_hv = own.exclude_hv && !group->hypervisor;
}

/* Plans one member, which must be exactly one event. */
static struct mt_error *plan_member(struct mt_planner *planner, const char *text, size_t length,
				    struct mt_counter *group, uint32_t leader)
{
	uint32_t index = (uint32_t)planner->plan->events.count;
	struct mt_error *err =
		*text == '{' ? not_one(text, length) : plan_word(planner, text, length);
	struct mt_planned_event *event;

	if (err)
		return err;
	if (planner->plan->events.count != index + 1 ||
	    planner->plan->events.items[index].role != MT_ROLE_SAMPLE)
		return not_one(text, length);
	event = &planner->plan->events.items[index];
	event->leader = leader;
	event->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
	apply_group(planner, group, &event->attr);
	group->weak |= planner->weak;
	if (index == leader) {
		group->read |= planner->read;
		return NULL;
	}
	if (index - leader >= MEMBERS_MAX)
		return mt_error_create(MT_ERR_USAGE, "-e: more than %d events in a group",
				       MEMBERS_MAX);
	if ((event->attr.pinned && !group->pinned) ||
	    (event->attr.exclusive && !group->exclusive) || (planner->read && !group->read))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "-e: bad modifier in '%.*s'",
						     (int)length, text),
				     "a group is pinned, exclusive or read as a whole: {...}:D, "
				     "{...}:e, {...}:S");
	event->attr.pinned = event->attr.exclusive = 0;
	return NULL;
}

/* Makes a member a counter without samples; its leader's samples contain its count. */
static void only_count(struct mt_planned_event *event, uint32_t leader)
{
	struct perf_event_attr *attr = &event->attr;

	event->role = MT_ROLE_MEMBER;
	event->pair = leader;
	event->sp_back = 0;
	attr->freq = 0;
	attr->sample_period = 0;
	attr->sample_type &= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID | PERF_SAMPLE_IP |
			     PERF_SAMPLE_ADDR | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			     PERF_SAMPLE_CPU;
	attr->sample_regs_user = 0;
	attr->sample_stack_user = 0;
	attr->branch_sample_type = 0;
	attr->exclude_callchain_user = 0;
}

/* Makes a planned group sample its first event, with the counts of all its events. */
static struct mt_error *read_group(struct mt_planner *planner, uint32_t leader, const char *text,
				   size_t length)
{
	struct mt_plan *plan = planner->plan;
	bool inherit = plan->events.items[leader].attr.inherit;

	if (!planner->features->ioc_id)
		return mt_error_create(MT_ERR_USAGE, "-e: %.*s: :S needs Linux 3.12", (int)length,
				       text);
	plan->events.items[leader].attr.sample_type |= PERF_SAMPLE_READ;
	plan->events.items[leader].attr.read_format |= PERF_FORMAT_GROUP;
	for (uint32_t i = leader; i < plan->events.count; i++) {
		if (i > leader)
			only_count(&plan->events.items[i], leader);
		plan->events.items[i].attr.inherit &= planner->features->inherited_reads;
	}
	if (inherit && !planner->features->inherited_reads)
		return mt_plan_note(plan,
				    "%.*s: this kernel (before Linux 6.12) reads no group in "
				    "children and new threads: only what is named is sampled by "
				    "it; -a samples all",
				    (int)length, text);
	return NULL;
}

/* Returns true if this machine can count the members together. */
static bool is_possible(const struct mt_planner *planner, uint32_t leader)
{
	const struct mt_plan *plan = planner->plan;
	size_t count = plan->events.count - leader;
	struct perf_event_attr attrs[MEMBERS_MAX];

	if (!planner->tracepoints->together || count < 2)
		return true;
	for (size_t i = 0; i < count; i++)
		attrs[i] = plan->events.items[leader + i].attr;
	return planner->tracepoints->together(planner->tracepoints->together_context, attrs, count);
}

/* Splits a planned group into single events. */
static struct mt_error *part_group(struct mt_planner *planner, uint32_t leader,
				   const struct mt_counter *group, const char *text, size_t length)
{
	struct mt_plan *plan = planner->plan;

	for (uint32_t i = leader; i < plan->events.count; i++) {
		struct mt_planned_event *event = &plan->events.items[i];

		event->leader = group->read ? i : 0;
		event->attr.sample_type |= group->read ? PERF_SAMPLE_READ : 0;
		event->attr.pinned = group->pinned;
		event->attr.exclusive = group->exclusive;
	}
	return mt_plan_note(plan,
			    "{%.*s}: these cannot be counted together here, so that each is "
			    "counted on its own",
			    (int)length, text);
}

/* Applies the modifiers of the group as a whole. */
static struct mt_error *finish_group(struct mt_planner *planner, uint32_t leader,
				     const struct mt_counter *group, const char *text,
				     size_t length)
{
	if (group->weak && !is_possible(planner, leader))
		return part_group(planner, leader, group, text, length);
	return group->read ? read_group(planner, leader, text, length) : NULL;
}

static struct mt_error *plan_members(struct mt_planner *planner, const char *text, size_t length,
				     struct mt_counter *group)
{
	uint32_t leader = (uint32_t)planner->plan->events.count;
	struct mt_error *err = NULL;
	size_t n;

	for (size_t at = 0; at <= length && !err; at += n + 1) {
		n = mt_planner_word_length(text + at);
		n = n < length - at ? n : length - at;
		err = plan_member(planner, text + at, n, group, leader);
	}
	if (!err)
		err = finish_group(planner, leader, group, text, length);
	for (uint32_t i = leader; i < planner->plan->events.count && !err; i++)
		err = mt_planned_event_decode(&planner->plan->events.items[i]);
	return err;
}

static struct mt_error *plan_together(struct mt_planner *planner, const char *text, size_t length)
{
	const char *end = memchr(text, '}', length);
	struct mt_counter group = {0};
	struct mt_error *err;

	if (!end || end == text + 1)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "-e: bad group '%.*s'",
						     (int)length, text),
				     "a group is written {event,event}, or {event,event}:S");
	err = parse_modifiers(text, length, end, &group);
	return err ? err : plan_members(planner, text + 1, (size_t)(end - text) - 1, &group);
}

struct mt_error *mt_planner_list(struct mt_planner *planner, const char *list)
{
	struct mt_error *err = NULL;
	size_t length;

	for (; !err; list += length + 1) {
		length = mt_planner_word_length(list);
		err = *list == '{' ? plan_together(planner, list, length)
				   : plan_word(planner, list, length);
		if (!list[length])
			break;
	}
	return err;
}
