/* Why a report has nothing to show. */
#include "report/nothing.h"

#include <string.h>

#include "formats/base/err.h"
#include "formats/records/events.h"
#include "formats/records/record.h"
#include "report/analyses/analyses.h"
#include "report/cli/options.h"
#include "report/tables/facts.h"
#include "report/tables/text.h"

/* The length of the longest recording in seconds. */
static double longest_of(const struct mt_facts *facts)
{
	double longest = 0;

	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &facts->recordings.items[i];
		double seconds = r->end > r->start ? (double)(r->end - r->start) / 1e9 : 0;

		longest = seconds > longest ? seconds : longest;
	}
	return longest;
}

/*
 * If the span begins at or after the end of the longest recording, returns the length of that
 * recording in seconds, else 0. The span begins at `begins`.
 */
static double ends_before(const struct mt_facts *facts, const struct mt_timespan *time,
			  double begins)
{
	double longest = longest_of(facts);

	return !time->given || time->percent || begins < longest ? 0 : longest;
}

double mt_nothing_ends_before_time(const struct mt_report_options *options,
				   const struct mt_facts *facts)
{
	return ends_before(facts, &options->selection.time, options->begins);
}

static struct mt_error *check_span(const char *option, const struct mt_timespan *time,
				   double begins, const struct mt_facts *facts)
{
	double longest = ends_before(facts, time, begins);

	return longest > 0 ? mt_error_create(MT_ERR_USAGE,
					     "%s begins at %g s, and the recording ends at %.3f s",
					     option, begins, longest)
			   : NULL;
}

/* Whether a recording contains the moment. The recording's rounded end counts as inside. */
static bool has_moment(const struct mt_facts_recording *recording, const struct mt_at *at)
{
	double length = (double)(recording->end - recording->start) / 1e9;

	return at->clock ? at->clock >= recording->start && at->clock <= recording->end
			 : at->seconds <= 1.01 * length + 0.01;
}

static struct mt_error *check_moment(const struct mt_at *at, const struct mt_facts *facts)
{
	const struct mt_facts_recording *last = NULL;

	if (at->when != MT_AT_TIME || !(longest_of(facts) > 0))
		return NULL;
	for (size_t i = 0; i < facts->recordings.count; i++) {
		last = &facts->recordings.items[i];
		if (has_moment(last, at))
			return NULL;
	}
	if (at->clock)
		return mt_error_create(MT_ERR_USAGE,
				       "--at @%llu: the recording is from @%llu to @%llu",
				       (unsigned long long)at->clock,
				       (unsigned long long)last->start,
				       (unsigned long long)last->end);
	return mt_error_create(MT_ERR_USAGE, "--at %g: the recording is from 0 to %.3f s",
			       at->seconds, longest_of(facts));
}

struct mt_error *mt_nothing_at_times(const struct mt_report_options *options,
				     const struct mt_facts *facts, const struct mt_facts *base)
{
	struct mt_error *err =
		check_span("--time", &options->selection.time, options->begins, facts);

	if (!err && base)
		err = check_span("--base-time", &options->baseline.time, options->base_begins,
				 base);
	return err ? err : check_moment(&options->wishes.at, facts);
}

static bool has_event(const struct mt_facts *facts, const char *alias, size_t length)
{
	for (size_t i = 0; i < facts->events.count; i++) {
		const char *has = facts->events.items[i].alias;

		if (strlen(has) == length && !memcmp(has, alias, length))
			return true;
	}
	return false;
}

/*
 * Whether an event with one of these names, or a member of a group with one of these names, was
 * recorded. A colon is part of a name, as in "kmem:kmalloc", except at its end. No group is a
 * member of itself.
 */
static bool was_recorded(const struct mt_facts *facts, const char *words)
{
	static const char between[] = ",;: ";

	for (size_t length; *words; words += length, words += strspn(words, between)) {
		const struct mt_event_def *def;

		length = strcspn(words, ",; ");
		length -= length && words[length - 1] == ':';
		def = mt_event_def_find(words, length);
		if (has_event(facts, words, length) ||
		    (def && def->kind == MT_EVENT_GROUP && was_recorded(facts, def->members)))
			return true;
	}
	return false;
}

/* Whether any event was recorded that the analysis gets its figures from. */
static bool has_source(const struct mt_analysis *analysis, const struct mt_facts *facts)
{
	if (!facts)
		return false;
	return analysis->needs ? mt_preconditions_source(analysis->needs, facts)
			       : !analysis->record || was_recorded(facts, analysis->record);
}

bool mt_nothing_to_analyse(const struct mt_report_options *options, const struct mt_facts *facts,
			   const struct mt_facts *base)
{
	const struct mt_analysis *analysis = options->analysis;

	if (analysis->states && mt_selection_given(&options->selection))
		return true;
	return (!analysis->states && !(facts->selected + (base ? base->selected : 0))) ||
	       (!has_source(analysis, facts) && !has_source(analysis, base));
}

static void print_events(const struct mt_facts *facts, const char *prefix, FILE *to)
{
	fprintf(to, "%sof %s samples; it has the events", prefix,
		mt_text_count((double)facts->samples).text);
	for (size_t i = 0, shown = 0; i < facts->events.count; i++) {
		if (facts->events.items[i].role != MT_ROLE_SAMPLE)
			continue;
		fputs(shown++ ? ", " : " ", to);
		mt_text_print_clean(facts->events.items[i].alias, to);
	}
	fputc('\n', to);
}

void mt_nothing_explain(const struct mt_report_options *options, const struct mt_facts *facts,
			const char *prefix, FILE *to)
{
	const char *record = options->analysis->record;
	bool given = mt_selection_given(&options->selection);
	double longest = mt_nothing_ends_before_time(options, facts);
	bool selected = longest > 0 || (facts->samples && (given || record));

	fputs(prefix, to);
	mt_text_print_clean(options->files[0], to);
	fprintf(to, ": %s\n",
		!selected ? "no samples in it"
		: given	  ? "no sample matches the selectors"
			  : "no sample of the events that were asked about");
	/* A time that begins after the end of the recording is a sufficient reason. */
	if (longest > 0) {
		fprintf(to, "%s--time begins at %g s, and the recording ends at %.3f s\n", prefix,
			options->selection.time.from, longest);
		return;
	}
	if (record && !(selected && given && was_recorded(facts, record)))
		fprintf(to, "%s--%s is about what mtrec -e %s records\n", prefix,
			options->analysis->name, record);
	if (selected && (options->analysis->needs & MT_NEEDS_HELD) &&
	    mt_preconditions_blocks(facts))
		fprintf(to, "%s--blocks shows what allocators gave\n", prefix);
	if (selected)
		print_events(facts, prefix, to);
}
