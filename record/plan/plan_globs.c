/* Plans words with wildcards: every tracepoint that matches, as if -e named each of them. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/plan/plan.h"
#include "record/plan/plan_parts.h"
#include "record/tracepoints/tracepoint_source.h"

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

struct mt_error *mt_planner_globs(struct mt_planner *planner, const char *text, size_t length)
{
	MT_CLEANUP_FREE char *pattern = strndup(text, length);
	MT_CLEANUP(matches_deinit) struct matches matches = {.pattern = pattern};
	struct mt_error *err = pattern ? find_matches(planner, &matches) : mt_error_nomem();

	for (size_t i = 0; i < matches.names.count && !err; i++)
		err = mt_planner_word(planner, matches.names.items[i],
				      strlen(matches.names.items[i]));
	return err;
}
