/*
 * Plans groups: words for several events. Leaves out members that this kernel does not have or that
 * this user may not record, and adds a note about the consequences.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/events.h"
#include "record/cli/options.h"
#include "record/plan/plan.h"
#include "record/plan/plan_parts.h"
#include "record/tracepoints/tracepoint_source.h"

struct mt_error *mt_planner_enumerate(char **list, const char *name)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ", " : "", name) < 0)
		return mt_error_nomem();
	free(*list);
	*list = longer;
	return NULL;
}

static struct mt_error *note_without(struct mt_planner *planner, const struct mt_event_def *def)
{
	char *text;

	if (asprintf(&text, "%s: this kernel has no %s: %s", planner->group->alias, def->alias,
		     def->help) < 0)
		text = NULL;
	return mt_planner_note(planner, text);
}

/* Adds the name to a note that all absent members share. */
static struct mt_error *note_absent(struct mt_planner *planner, const char *name, size_t length)
{
	struct mt_plan *plan = planner->plan;
	char **last = plan->notes.count ? &plan->notes.items[plan->notes.count - 1] : NULL;
	MT_CLEANUP_FREE char *begin = NULL;
	char *text;

	planner->lacking = planner->group->alias;
	if (asprintf(&begin, "%s: this machine has no ", planner->group->alias) < 0) {
		begin = NULL;
		return mt_error_nomem();
	}
	if (last && !strncmp(*last, begin, strlen(begin))) {
		if (asprintf(&text, "%s, %.*s", *last, (int)length, name) < 0)
			return mt_error_nomem();
		free(*last);
		*last = text;
		return NULL;
	}
	if (asprintf(&text, "%s%.*s", begin, (int)length, name) < 0)
		text = NULL;
	return mt_planner_note(planner, text);
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

static struct mt_error *plan_mark(struct mt_planner *planner, const struct mt_event_word *word)
{
	struct mt_planned_event *event;
	struct mt_error *err = mt_planner_tracepoint(planner, word->def->alias, MT_ROLE_MARK, word);

	if (err || !word->def->filter)
		return err;
	event = &planner->plan->events.items[planner->plan->events.count - 1];
	event->filter = strdup(word->def->filter);
	return event->filter ? NULL : mt_error_nomem();
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
	err = plan_mark(planner, word);
	if (err && !mt_planner_is_fatal(err)) {
		struct mt_error *noted = err->kind == MT_ERR_NOT_FOUND
						 ? note_without(planner, word->def)
						 : add_refused(planner, word->def);

		mt_error_destroy(err);
		return noted;
	}
	return err;
}

struct mt_error *mt_planner_mark(struct mt_planner *planner, const struct mt_event_word *word)
{
	struct mt_error *err;

	if (mt_planner_has(planner, MT_ROLE_MARK, word->text, word->length))
		return NULL;
	err = plan_mark(planner, word);
	if (!err || mt_planner_is_fatal(err))
		return err;
	mt_error_destroy(err);
	return mt_planner_enumerate(&planner->missing, word->def->alias);
}

/* Plans "subsystem:name/FILTER/": the filtered tracepoint under the group's alias. */
static struct mt_error *plan_filtered(struct mt_planner *planner, const char *text, size_t length)
{
	const char *alias = planner->group->alias, *slash = memchr(text, '/', length);
	const struct mt_event_word word = {.text = alias, .length = strlen(alias)};
	MT_CLEANUP_FREE char *name = strndup(text, (size_t)(slash - text));
	struct mt_planned_event *event;
	struct mt_error *err;

	if (mt_planner_has(planner, MT_ROLE_SAMPLE, word.text, word.length))
		return NULL;
	err = name ? mt_planner_tracepoint(planner, name, MT_ROLE_SAMPLE, &word) : mt_error_nomem();
	if (err)
		return err;
	event = &planner->plan->events.items[planner->plan->events.count - 1];
	event->filter = strndup(slash + 1, (size_t)(text + length - slash) - 2);
	return event->filter ? NULL : mt_error_nomem();
}

/* Plans a hardware event; MT_ERR_NOT_FOUND if the machine does not have it. */
static struct mt_error *plan_hardware(struct mt_planner *planner, const char *text, size_t length)
{
	const struct mt_tracepoint_source *source = planner->tracepoints;
	size_t before = planner->plan->events.count;
	struct mt_error *err = mt_planner_word(planner, text, length);

	if (err || planner->plan->events.count == before || !source->together ||
	    planner->options->action == MT_ACTION_COUNT || /* its row reports it */
	    source->together(source->together_context, &planner->plan->events.items[before].attr,
			     1))
		return err;
	mt_planner_drop_last(planner);
	return mt_error_create(MT_ERR_NOT_FOUND, "%.*s: this machine does not count it",
			       (int)length, text);
}

static struct mt_error *plan_word(struct mt_planner *planner, const struct mt_event_word *word)
{
	if (word->def && word->def->kind == MT_EVENT_HARDWARE)
		return plan_hardware(planner, word->text, word->length);
	if (!word->def && memchr(word->text, '/', word->length))
		return plan_filtered(planner, word->text, word->length);
	return mt_planner_word(planner, word->text, word->length);
}

static struct mt_error *plan_member(struct mt_planner *planner, const char *text, size_t length)
{
	struct mt_event_word word = {
		.text = text, .length = length, .def = mt_event_def_find(text, length)};
	struct mt_error *err;

	if (word.def && word.def->kind == MT_EVENT_MARK)
		return plan_mark_or_note(planner, &word);
	err = plan_word(planner, &word);
	if (err && err->kind == MT_ERR_NOT_FOUND &&
	    (!word.def || word.def->kind == MT_EVENT_HARDWARE)) {
		mt_error_destroy(err);
		err = note_absent(planner, text, length);
	}
	return err;
}

struct mt_error *mt_planner_group(struct mt_planner *planner, const struct mt_event_def *group)
{
	const struct mt_event_def *outer = planner->group;
	bool vm = !strcmp(group->alias, "vm"), keeps = vm || !strcmp(group->alias, "rss");
	struct mt_error *err = keeps ? mt_planner_ask_data(planner) : NULL;
	size_t length;

	planner->group = group;
	planner->has_vm |= vm;
	for (const char *word = group->members; !err; word += length + 1) {
		length = strcspn(word, ",");
		err = plan_member(planner, word, length);
		if (!word[length])
			break;
	}
	planner->group = outer;
	return err;
}
