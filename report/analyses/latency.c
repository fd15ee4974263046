/*
 * --latency, --reclaim, --compaction: durations from one event to another, by process or stack, as
 * a histogram with --by took.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/durations/durations.h"
#include "report/session/session.h"
#include "report/sums/row_keys.h"
#include "report/sums/sample_field.h"
#include "report/tables/facts.h"

enum {
	VALUE_TIME,
	VALUE_CALLS,
	VALUE_LONGEST,
	VALUE_PAGES,
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	{"ns", "ns"},
	{"calls", "calls"},
	{"longest", "ns"},
	{"pages", "pages"},
};

/* The durations that an analysis shows. */
struct duration_table {
	const struct mt_duration_rule *rules;
	size_t count;
	const char *pages; /* field of the end event that counts pages, or NULL */
};

/* Reads every duration into the rows. */
struct latency {
	struct mt_listener listener; /* first: ops get a pointer to it */
	struct mt_observer observer;
	struct mt_session *session;
	struct mt_durations *durations;
	struct mt_row_keys *grouping;
	struct mt_sample_field pages;
};

static void add(struct latency *latency, const struct mt_session_sample *sample, uint64_t ns)
{
	struct mt_row_facts facts = mt_row_facts_of(latency->session, sample);
	struct mt_value values[VALUES] = {
		[VALUE_TIME] = mt_value_exact((double)ns),
		[VALUE_CALLS] = mt_value_exact(1),
		[VALUE_LONGEST] = mt_value_exact((double)ns),
	};
	double pages;

	facts.took = ns;
	if (latency->pages.name &&
	    mt_sample_field_get(&latency->pages, latency->session, sample, &pages))
		values[VALUE_PAGES] = mt_value_exact(pages);
	mt_row_keys_add(latency->grouping, &facts, values);
}

static void take_sample(void *context, const struct mt_session_sample *sample)
{
	struct latency *latency = context;
	uint64_t ns;

	if (mt_durations_take(latency->durations, sample, &ns))
		add(latency, sample, ns);
}

static struct mt_error *check_known(const struct mt_durations *durations,
				    const struct mt_duration_rule *rule)
{
	const struct mt_duration_event begin =
		mt_durations_know(durations, rule->begin, rule->field);
	const struct mt_duration_event end = mt_durations_know(durations, rule->end, rule->field);
	const char *unknown = !begin.known ? rule->begin : !end.known ? rule->end : NULL;

	if (!unknown && (!begin.field || !end.field))
		return mt_error_hint(
			mt_error_create(MT_ERR_USAGE, "--latency: %s has no number called %s",
					begin.field ? rule->end : rule->begin, rule->field),
			"--script shows the fields of tracepoints");
	if (!unknown && !end.samples)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "--latency: of %s there are only marks, which "
						     "end nothing: they have no stack",
						     rule->end),
				     "mtrec -e %s by itself records its samples", rule->end);
	return unknown ? mt_error_hint(mt_error_create(MT_ERR_USAGE,
						       "--latency %s: no event of this recording",
						       unknown),
				       "mtreport --info lists its events")
		       : NULL;
}

static struct mt_error *end_listening(struct mt_listener *listener, struct mt_table **out)
{
	struct latency *latency = (struct latency *)listener;

	mt_durations_report(latency->durations);
	mt_row_keys_may_have(latency->grouping,
			     mt_facts_lost_all(mt_session_facts(latency->session)), VALUE_CALLS);
	return mt_row_keys_table(MT_TAKE(latency->grouping), out);
}

static void stop_listening(struct mt_listener *listener)
{
	struct latency *latency = (struct latency *)listener;

	mt_session_ignore(latency->session, &latency->observer);
	mt_durations_destroy(latency->durations);
	mt_row_keys_destroy(latency->grouping);
	mt_sample_field_deinit(&latency->pages);
	free(latency);
}

static struct latency *begin(const struct mt_analysis *analysis, struct mt_session *session,
			     const struct mt_analysis_request *request,
			     const struct duration_table *of, bool alongside)
{
	struct latency *latency = mt_alloc(1, sizeof(*latency));

	latency->session = session;
	latency->pages.name = of->pages;
	latency->listener = (struct mt_listener){.end = end_listening, .destroy = stop_listening};
	latency->observer = (struct mt_observer){.context = latency, .given = take_sample};
	latency->grouping = mt_row_keys_create(session, analysis->name, value_columns,
					       VALUES - !of->pages, request);
	mt_row_keys_most(latency->grouping, VALUE_LONGEST);
	latency->durations = mt_durations_create(session, of->rules, of->count, alongside);
	mt_session_observe(session, &latency->observer);
	return latency;
}

static struct mt_listener *listen(const struct mt_analysis *analysis, struct mt_session *session,
				  const struct mt_analysis_request *request, bool alongside)
{
	return &begin(analysis, session, request, analysis->rows, alongside)->listener;
}

/* Parses "BEGIN,END" or "BEGIN,END,FIELD". Cuts `words`, a copy of `given`. */
static struct mt_error *parse_rule(char *words, const char *given, struct mt_duration_rule *out)
{
	out->begin = strsep(&words, ",");
	out->end = strsep(&words, ",");
	out->field = strsep(&words, ",");
	if (!words && *out->begin && out->end && *out->end && (!out->field || *out->field))
		return NULL;
	return mt_error_hint(
		mt_error_create(MT_ERR_USAGE, "--latency %s: not two events", given),
		"--latency BEGIN,END, or BEGIN,END,FIELD: both have the same number in FIELD");
}

static struct mt_error *run_latency(const struct mt_analysis *analysis, struct mt_session *session,
				    const struct mt_analysis_request *request,
				    struct mt_table **out)
{
	MT_CLEANUP_FREE char *words = mt_copy_string(request->argument);
	struct mt_duration_rule rule;
	const struct duration_table of = {&rule, 1, NULL};
	struct mt_error *err = parse_rule(words, request->argument, &rule);
	struct latency *latency;

	if (err)
		return err;
	latency = begin(analysis, session, request, &of, false);
	err = mt_session_read(session, NULL, NULL);
	err = err ? err : check_known(latency->durations, &rule);
	err = err ? err : end_listening(&latency->listener, out);
	stop_listening(&latency->listener);
	return err;
}

static const struct mt_duration_rule reclaim_rules[] = {
	{"vmscan:mm_vmscan_direct_reclaim_begin", "vmscan:mm_vmscan_direct_reclaim_end", NULL},
	{"vmscan:mm_vmscan_memcg_reclaim_begin", "vmscan:mm_vmscan_memcg_reclaim_end", NULL},
	{"vmscan:mm_vmscan_memcg_softlimit_reclaim_begin",
	 "vmscan:mm_vmscan_memcg_softlimit_reclaim_end", NULL},
	{"vmscan:mm_vmscan_node_reclaim_begin", "vmscan:mm_vmscan_node_reclaim_end", NULL},
	{"vmscan:mm_vmscan_kswapd_wake", "vmscan:mm_vmscan_kswapd_sleep", NULL},
	{"vmscan:mm_shrink_slab_start", "vmscan:mm_shrink_slab_end", "shr"},
};

static const struct mt_duration_rule compaction_rules[] = {
	{"compaction:mm_compaction_begin", "compaction:mm_compaction_end", NULL},
	{"compaction:mm_compaction_kcompactd_wake", "compaction:mm_compaction_kcompactd_sleep",
	 NULL},
	{"migrate:mm_migrate_pages_start", "migrate:mm_migrate_pages", NULL},
};

static const struct duration_table reclaim = {
	reclaim_rules, sizeof(reclaim_rules) / sizeof(*reclaim_rules), "nr_reclaimed"};

static const struct duration_table compaction = {
	compaction_rules, sizeof(compaction_rules) / sizeof(*compaction_rules), NULL};

#define KEYS (MT_BY_OF_SAMPLES | MT_BY_BIT(MT_BY_TOOK))
#define DEFAULT_KEYS                                         \
	{                                                    \
		{MT_BY_EVENT, MT_BY_PROCESS, MT_BY_STACK}, 3 \
	}

const struct mt_analysis mt_analysis_latency = {
	.name = "latency",
	.argument = "BEGIN,END",
	.help = "how long it took from one event to another",
	.rare = true,
	.groups = true,
	.by = KEYS,
	.default_by = DEFAULT_KEYS,
	.events_apart = true,
	.output = "table",
	.run = run_latency,
};

const struct mt_analysis mt_analysis_reclaim = {
	.name = "reclaim",
	.help = "who waited for the kernel to free memory, how long",
	.rare = true,
	.groups = true,
	.by = KEYS,
	.default_by = DEFAULT_KEYS,
	.events_apart = true,
	.record = "reclaim",
	.output = "table",
	.listen = listen,
	.rows = &reclaim,
};

const struct mt_analysis mt_analysis_compaction = {
	.name = "compaction",
	.help = "who waited for free pages to be moved together",
	.rare = true,
	.groups = true,
	.by = KEYS,
	.default_by = DEFAULT_KEYS,
	.events_apart = true,
	.record = "compaction",
	.output = "table",
	.listen = listen,
	.rows = &compaction,
};
