/* Planning probes: each is a tracepoint, once it is defined. */
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/events.h"
#include "record/cli/options.h"
#include "record/plan/plan.h"
#include "record/plan/plan_parts.h"
#include "record/tracepoints/tracepoint_source.h"

/* An entry serves the unwinding of dumps only. */
static struct mt_error *plan_one(void *out, const char *name, const char *alias, bool entry)
{
	struct mt_event_word word = {.text = alias, .length = strlen(alias)};
	struct mt_planner *planner = out;

	if (entry && !planner->options->dump_size)
		return NULL;
	return mt_planner_tracepoint(planner, name, entry ? MT_ROLE_MARK : MT_ROLE_SAMPLE, &word);
}

struct mt_error *mt_planner_probe(struct mt_planner *planner, const char *text, size_t length)
{
	const struct mt_tracepoint_source *source = planner->tracepoints;
	char *note = NULL;
	struct mt_error *err;

	if (!source->probe)
		return mt_error_create(MT_ERR_UNSUPPORTED, "%.*s: probes cannot be defined here",
				       (int)length, text);
	err = source->probe(source->probes, text, length, plan_one, planner, &note);
	return err || !note ? err : mt_planner_note(planner, note);
}

static struct mt_error *plan_blocks(void *context, const struct mt_allocator_probe *probe)
{
	struct mt_planner *planner = context;
	struct mt_event_word word = {.text = probe->function,
				     .length = strlen(probe->function),
				     .def = mt_event_def_find("malloc", 6)};
	struct mt_error *err = mt_planner_tracepoint(
		planner, probe->name, probe->gives ? MT_ROLE_SAMPLE : MT_ROLE_MARK, &word);
	struct mt_planned_event *event;

	if (err)
		return err;
	event = &planner->plan->events.items[planner->plan->events.count - 1];
	event->account = strdup(probe->account);
	return event->account ? NULL : mt_error_nomem();
}

/* An account of blocks needs every one. */
struct mt_error *mt_planner_allocators(struct mt_planner *planner)
{
	const struct mt_tracepoint_source *source = planner->tracepoints;
	const struct mt_record_options *options = planner->options;
	char *note = NULL;
	struct mt_error *err;

	if (options->period > 1 || options->frequency || options->budget > 0 || options->max_rate)
		return mt_error_create(MT_ERR_USAGE,
				       "-e malloc records every block: -c, -F, --budget and "
				       "--max-rate do not go with it");
	if (!source->allocators)
		return mt_error_create(MT_ERR_UNSUPPORTED, "malloc: probes cannot be defined here");
	err = source->allocators(source->probes, plan_blocks, planner, &note);
	return err ? err : mt_planner_note(planner, note);
}
