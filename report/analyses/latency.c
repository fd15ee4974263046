/*
 * --latency, --reclaim, --compaction: how long it took from one event to another, by process or
 * stack, as a histogram with --by took.
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

MT_DEFINE_CLEANUP(mt_row_keys, struct mt_row_keys)
MT_DEFINE_CLEANUP(mt_durations, struct mt_durations)

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

/* Reads every duration into the rows. `pages`: the end's field that counts them, or NULL. */
struct latency {
	struct mt_session *session;
	struct mt_durations *durations;
	struct mt_row_keys *grouping;
	struct mt_sample_field pages;
};

static struct mt_error *add(struct latency *latency, const struct mt_session_sample *sample,
			    uint64_t ns)
{
	struct mt_row_facts facts = mt_row_facts_of(latency->session, sample);
	struct mt_value values[VALUES] = {
		[VALUE_TIME] = mt_value_exact((double)ns),
		[VALUE_CALLS] = mt_value_exact(1),
		[VALUE_LONGEST] = mt_value_exact((double)ns),
	};
	double pages;
	bool has = false;

	facts.took = ns;
	if (latency->pages.name &&
	    !mt_sample_field_get(&latency->pages, latency->session, sample, &pages, &has))
		return mt_error_nomem();
	if (has)
		values[VALUE_PAGES] = mt_value_exact(pages);
	return mt_row_keys_add(latency->grouping, &facts, values) ? NULL : mt_error_nomem();
}

static struct mt_error *read_all(struct latency *latency)
{
	struct mt_session_sample sample;
	uint64_t ns;
	bool more;

	for (;;) {
		struct mt_error *err = mt_session_next(latency->session, &sample, &more);

		if (err || !more)
			return err;
		if (mt_durations_take(latency->durations, &sample, &ns))
			err = add(latency, &sample, ns);
		if (err)
			return err;
	}
}

static struct mt_error *check_known(const struct mt_durations *durations,
				    const struct mt_duration_rule *rule)
{
	const char *unknown = !mt_durations_know(durations, rule->begin) ? rule->begin
			      : !mt_durations_know(durations, rule->end) ? rule->end
									 : NULL;

	return unknown ? mt_error_hint(mt_error_create(MT_ERR_USAGE,
						       "--latency %s: no event of this recording",
						       unknown),
				       "mtreport --info lists its events")
		       : NULL;
}

static struct mt_error *run_rules(struct mt_session *session, const struct mt_analysis *analysis,
				  const struct mt_analysis_request *request,
				  const struct mt_duration_rule *rules, size_t count,
				  const char *pages, struct mt_table **out)
{
	MT_CLEANUP(mt_row_keys_destroy_p) struct mt_row_keys *grouping = NULL;
	MT_CLEANUP(mt_durations_destroy_p) struct mt_durations *durations = NULL;
	struct latency latency = {.session = session, .pages = {.name = pages}};
	struct mt_error *err = mt_row_keys_create(session, analysis->name, value_columns,
						  VALUES - !pages, request, &grouping);

	err = err ? err : mt_durations_create(session, rules, count, &durations);
	if (err)
		return err;
	mt_row_keys_most(grouping, VALUE_LONGEST);
	latency.durations = durations;
	latency.grouping = grouping;
	err = read_all(&latency);
	mt_sample_field_deinit(&latency.pages);
	if (!err && count == 1)
		err = check_known(durations, rules);
	if (err)
		return err;
	mt_durations_tell(durations);
	if (!mt_row_keys_may_have(grouping, mt_facts_lost_all(mt_session_facts(session)),
				  VALUE_CALLS))
		return mt_error_nomem();
	return mt_row_keys_table(MT_TAKE(grouping), out);
}

/* "BEGIN,END" or "BEGIN,END,FIELD": cuts the copy. */
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

static struct mt_error *run_latency(struct mt_session *session,
				    const struct mt_analysis_request *request,
				    struct mt_table **out)
{
	MT_CLEANUP_FREE char *words = strdup(request->argument);
	struct mt_duration_rule rule;
	struct mt_error *err =
		words ? parse_rule(words, request->argument, &rule) : mt_error_nomem();

	return err ? err : run_rules(session, &mt_analysis_latency, request, &rule, 1, NULL, out);
}

static struct mt_error *run_reclaim(struct mt_session *session,
				    const struct mt_analysis_request *request,
				    struct mt_table **out)
{
	static const struct mt_duration_rule rules[] = {
		{"vmscan:mm_vmscan_direct_reclaim_begin", "vmscan:mm_vmscan_direct_reclaim_end",
		 NULL},
		{"vmscan:mm_vmscan_memcg_reclaim_begin", "vmscan:mm_vmscan_memcg_reclaim_end",
		 NULL},
		{"vmscan:mm_vmscan_memcg_softlimit_reclaim_begin",
		 "vmscan:mm_vmscan_memcg_softlimit_reclaim_end", NULL},
		{"vmscan:mm_vmscan_node_reclaim_begin", "vmscan:mm_vmscan_node_reclaim_end", NULL},
		{"vmscan:mm_vmscan_kswapd_wake", "vmscan:mm_vmscan_kswapd_sleep", NULL},
		{"vmscan:mm_shrink_slab_start", "vmscan:mm_shrink_slab_end", "shr"},
	};

	return run_rules(session, &mt_analysis_reclaim, request, rules,
			 sizeof(rules) / sizeof(*rules), "nr_reclaimed", out);
}

static struct mt_error *run_compaction(struct mt_session *session,
				       const struct mt_analysis_request *request,
				       struct mt_table **out)
{
	static const struct mt_duration_rule rules[] = {
		{"compaction:mm_compaction_begin", "compaction:mm_compaction_end", NULL},
		{"compaction:mm_compaction_kcompactd_wake",
		 "compaction:mm_compaction_kcompactd_sleep", NULL},
		{"migrate:mm_migrate_pages_start", "migrate:mm_migrate_pages", NULL},
	};

	return run_rules(session, &mt_analysis_compaction, request, rules,
			 sizeof(rules) / sizeof(*rules), NULL, out);
}

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
	.run = run_reclaim,
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
	.run = run_compaction,
};
