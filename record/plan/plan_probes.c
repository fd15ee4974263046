/* Plans probes. A probe that is defined is a tracepoint. */
#include <stdlib.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/events.h"
#include "record/cli/options.h"
#include "record/plan/plan.h"
#include "record/plan/plan_parts.h"
#include "record/tracepoints/tracepoint_source.h"

/* An entry only serves the unwinding of dumps. */
static struct mt_error *plan_one(void *out, const struct mt_defined_probe *probe)
{
	struct mt_event_word word = {.text = probe->alias, .length = strlen(probe->alias)};
	struct mt_planner *planner = out;

	if (probe->entry && !planner->options->dump_size)
		return NULL;
	return mt_planner_tracepoint(planner, probe->name,
				     probe->entry ? MT_ROLE_MARK : MT_ROLE_SAMPLE, &word);
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
