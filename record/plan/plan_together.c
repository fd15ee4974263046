/*
 * Plans groups {a,b}: events that are on the CPU's counters all at the same time or not at all.
 * With :S the first event is sampled, and its samples contain the counts of all. With :W the events
 * are counted separately if the CPU cannot count them together.
 */
#include <string.h>

#include "formats/base/err.h"
#include "record/open/perf_event.h"
#include "record/plan/plan.h"
#include "record/plan/plan_parts.h"
#include "record/tracepoints/tracepoint_source.h"

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
		*text == '{' ? not_one(text, length) : mt_planner_word(planner, text, length);
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

static struct mt_error *note_no_children(struct mt_planner *planner, const char *text,
					 size_t length)
{
	char *note;

	if (asprintf(&note,
		     "%.*s: this kernel (before Linux 6.12) reads no group in children and new "
		     "threads: only what is named is sampled by it; -a samples all",
		     (int)length, text) < 0)
		note = NULL;
	return mt_planner_note(planner, note);
}

/* Turns a planned group into one whose first event is sampled with the counts of all. */
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
		return note_no_children(planner, text, length);
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
	char *note;

	for (uint32_t i = leader; i < plan->events.count; i++) {
		struct mt_planned_event *event = &plan->events.items[i];

		event->leader = group->read ? i : 0;
		event->attr.sample_type |= group->read ? PERF_SAMPLE_READ : 0;
		event->attr.pinned = group->pinned;
		event->attr.exclusive = group->exclusive;
	}
	if (asprintf(&note,
		     "{%.*s}: these cannot be counted together here, so that each is counted on "
		     "its own",
		     (int)length, text) < 0)
		note = NULL;
	return mt_planner_note(planner, note);
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
	for (uint32_t i = leader; i < planner->plan->events.count && !err; i++) {
		struct mt_planned_event *event = &planner->plan->events.items[i];

		if (!mt_attr_decode(&event->attr, sizeof(event->attr), &event->decoded))
			err = mt_error_nomem();
	}
	return err;
}

struct mt_error *mt_planner_together(struct mt_planner *planner, const char *text, size_t length)
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
