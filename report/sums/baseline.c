/*
 * Opens the second session and computes the factor between the two sessions, by duration or by the
 * count of an event.
 */
#include "report/sums/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/sums/analysis.h"
#include "report/sums/comparison.h"
#include "report/sums/row_keys.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

MT_DEFINE_CLEANUP(mt_baseline, struct mt_baseline)
MT_DEFINE_CLEANUP(mt_match, struct mt_match)
MT_DEFINE_CLEANUP(mt_session, struct mt_session)
MT_DEFINE_CLEANUP(mt_table, struct mt_table)

struct mt_baseline {
	const struct mt_baseline_options *options;
	struct mt_selection selection; /* the report's selection with another time; borrows */
	struct mt_session_options like, here;
	struct mt_session *session;
};

struct mt_error *mt_baseline_open(const struct mt_baseline_options *options,
				  const struct mt_session_options *like, struct mt_baseline **out)
{
	MT_CLEANUP(mt_baseline_destroy_p)
	struct mt_baseline *baseline = mt_alloc(1, sizeof(*baseline));
	struct mt_error *err;

	baseline->options = options;
	baseline->like = baseline->here = *like;
	baseline->selection = *like->selection;
	if (options->time.given)
		baseline->selection.time = options->time;
	baseline->here.selection = &baseline->selection;
	baseline->here.before = options->before;
	if (options->file) {
		baseline->here.files = &options->file;
		baseline->here.file_count = 1;
	}
	err = mt_session_open(&baseline->here, &baseline->session);
	if (err)
		return err;
	*out = MT_TAKE(baseline);
	return NULL;
}

void mt_baseline_destroy(struct mt_baseline *baseline)
{
	if (!baseline)
		return;
	mt_session_destroy(baseline->session);
	free(baseline);
}

const struct mt_session *mt_baseline_session(const struct mt_baseline *baseline)
{
	return baseline->session;
}

/* ---- Measures ---- */

/* Seconds that `time` selects, summed over the recordings. */
static double seconds_of(const struct mt_session *session, const struct mt_timespan *time)
{
	const struct mt_facts *facts = mt_session_facts(session);
	double sum = 0;

	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &facts->recordings.items[i];
		uint64_t from, to;

		mt_timespan_apply(time, r->start, r->end, &from, &to);
		from = from > r->start ? from : r->start;
		to = to < r->end ? to : r->end;
		sum += to > from ? (double)(to - from) / 1e9 : 0;
	}
	return sum;
}

/* Counts how often an event happened, whichever events the report is about. */
static struct mt_error *count_events(const struct mt_session_options *like, const char *event,
				     double *out)
{
	MT_CLEANUP(mt_match_destroy_p) struct mt_match *events = NULL;
	MT_CLEANUP(mt_session_destroy_p) struct mt_session *session = NULL;
	struct mt_selection selection = *like->selection;
	struct mt_session_options options = *like;
	struct mt_value values[MT_SAMPLE_VALUES];
	struct mt_session_sample sample;
	struct mt_error *err = mt_match_add("--per", event, &events);
	bool more = true;

	if (err)
		return err;
	mt_match_take_globs(events);
	selection.events = events;
	selection.dsos = selection.symbols = NULL;
	options.selection = &selection;
	options.stacks = options.addresses = options.regions = false;
	options.images = false;
	options.wants = NULL;
	err = mt_session_open(&options, &session);
	for (*out = 0; !err;) {
		err = mt_session_next(session, &sample, &more);
		if (err || !more)
			break;
		mt_sample_values(&sample, values);
		*out += values[1].value;
	}
	if (!err && *out <= 0)
		err = mt_error_create(MT_ERR_USAGE, "--per %s: %s has none of it", event,
				      like->files[0]);
	return err;
}

/* The factor for figures of the base. */
static struct mt_error *find_scale(const struct mt_baseline *baseline, bool moments,
				   const struct mt_session *session, double *out)
{
	const char *per = baseline->options->per;
	double base, now;
	struct mt_error *err;

	*out = 1;
	if (per ? !strcmp(per, "none") : moments)
		return NULL;
	if (!per || !strcmp(per, "time")) {
		base = seconds_of(baseline->session, &baseline->selection.time);
		now = seconds_of(session, &baseline->like.selection->time);
		*out = base > 0 && now > 0 ? now / base : 1;
		return NULL;
	}
	err = count_events(&baseline->here, per, &base);
	err = err ? err : count_events(&baseline->like, per, &now);
	if (!err)
		*out = now / base;
	return err;
}

struct mt_session *mt_baseline_reading(struct mt_baseline *baseline)
{
	return baseline->session;
}

struct mt_error *mt_baseline_contrast(const struct mt_baseline *baseline,
				      const struct mt_analysis *analysis, const char *weight,
				      struct mt_session *session, struct mt_table *base,
				      struct mt_table *now, struct mt_table **out)
{
	struct mt_comparison_options options = {
		.weight = weight,
		.same_recording = !baseline->options->file,
	};
	struct mt_error *err = find_scale(baseline, analysis->moments, session, &options.scale);

	return err ? err : mt_comparison_make(&options, base, now, session, out);
}

struct mt_error *mt_baseline_compare(struct mt_baseline *baseline,
				     const struct mt_analysis *analysis,
				     const struct mt_analysis_request *request,
				     struct mt_session *session, struct mt_table *now,
				     struct mt_table **out)
{
	MT_CLEANUP(mt_table_destroy_p) struct mt_table *base = NULL;
	struct mt_analysis_request asked = *request;
	struct mt_error *err;

	asked.time = baseline->selection.time;
	if (analysis->moments && baseline->options->time.given && request->at.when != MT_AT_PEAK)
		asked.at = mt_at_end_of(&asked.time);
	err = mt_analysis_run(analysis, baseline->session, &asked, &base);
	return err ? err
		   : mt_baseline_contrast(baseline, analysis, request->weight, session, base, now,
					  out);
}
