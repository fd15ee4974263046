/*
 * Plans marks. If a call that changes mappings is sampled, the other calls of the group vm are
 * planned as marks without stacks, so that the account of an address space is complete whichever
 * calls are requested. Their cost is small, because the slow path of system calls is in use
 * already.
 */
#include <string.h>

#include "formats/base/err.h"
#include "formats/events.h"
#include "record/plan/plan.h"
#include "record/plan/plan_parts.h"

#define EXIT "syscalls:sys_exit_"

static bool equals(const char *text, const char *word, size_t length)
{
	return strlen(text) == length && !memcmp(text, word, length);
}

/* Returns true if the event samples the exits of the call, by its alias or as a tracepoint. */
static bool samples_call(const struct mt_planned_event *event, const char *call, size_t length)
{
	const char *name = event->name;

	if (event->role != MT_ROLE_SAMPLE)
		return false;
	return equals(event->alias, call, length) ||
	       (!event->filter && /* a filter may drop successful calls */
		!strncmp(name, EXIT, sizeof(EXIT) - 1) &&
		equals(name + sizeof(EXIT) - 1, call, length));
}

static bool is_sampled(const struct mt_planner *planner, const char *call, size_t length)
{
	for (size_t i = 1; i < planner->plan->events.count; i++) {
		if (samples_call(&planner->plan->events.items[i], call, length))
			return true;
	}
	return false;
}

/* Returns true if a call of the group is sampled: only then is an account kept. */
static bool has_calls(const struct mt_planner *planner, const struct mt_event_def *group)
{
	size_t length;

	for (const char *word = group->members;; word += length + 1) {
		length = strcspn(word, ",");
		if (!memchr(word, ':', length) && is_sampled(planner, word, length))
			return true;
		if (!word[length])
			return false;
	}
}

static struct mt_error *mark(struct mt_planner *planner, const char *text, size_t length)
{
	const struct mt_event_word word = {
		.text = text, .length = length, .def = mt_event_def_find(text, length)};

	if (word.def->kind == MT_EVENT_MARK)
		return mt_planner_mark(planner, &word);
	return is_sampled(planner, text, length) ? NULL : mt_planner_mark_call(planner, &word);
}

struct mt_error *mt_planner_finish_marks(struct mt_planner *planner)
{
	const struct mt_event_def *group = mt_event_def_find("vm", 2);
	struct mt_error *err;
	size_t length;

	if (planner->has_vm || !has_calls(planner, group))
		return NULL;
	err = mt_planner_ask_data(planner);
	for (const char *word = group->members; !err; word += length + 1) {
		length = strcspn(word, ",");
		err = mark(planner, word, length);
		if (!word[length])
			break;
	}
	return err;
}
