/*
 * Checks options against the analysis and output, and decides the table's shape.
 */
#include "report/cli/request.h"

#include <stdio.h>
#include <string.h>

#include "formats/base/err.h"
#include "report/analyses/alongside/recording_tables.h"
#include "report/analyses/analyses.h"
#include "report/cli/registry.h"
#include "report/outputs/outputs.h"

static struct mt_error *check_shape(const struct mt_analysis *analysis,
				    const struct mt_output *output, const struct mt_wishes *wishes,
				    bool listing)
{
	if (listing && !analysis->lists)
		return mt_error_create(MT_ERR_USAGE,
				       "--%s makes sums, and --%s shows single events",
				       analysis->name, output->name);
	if (listing && !(output->needs & (MT_NEEDS_LISTING | MT_TAKES_LISTING)))
		return mt_error_create(MT_ERR_USAGE,
				       "--%s lists single events, and --%s shows sums",
				       analysis->name, output->name);
	if (listing && wishes->limit.percent > 0)
		return mt_error_hint(mt_error_create(MT_ERR_USAGE,
						     "--percent-limit leaves out sums, and --%s "
						     "shows single events",
						     analysis->groups ? output->name
								      : analysis->name),
				     "--top N shows the first N");
	return NULL;
}

/*
 * Lists the analyses that show a moment: "--outstanding, --maps". With `ages`, only those that know
 * ages; with `all`, only those that --all affects.
 */
static void list_of_moments(bool ages, bool all, char *out, size_t size)
{
	size_t length = 0;

	*out = '\0';
	for (size_t i = 0; mt_analyses[i] && length < size; i++) {
		const struct mt_analysis *analysis = mt_analyses[i];

		if (analysis->moments && (!ages || analysis->ages) && (!all || analysis->narrows))
			length += (size_t)snprintf(out + length, size - length, "%s--%s",
						   length ? ", " : "", analysis->name);
	}
}

static struct mt_error *check_moments(const struct mt_analysis *analysis,
				      const struct mt_output *output,
				      const struct mt_wishes *wishes)
{
	bool screen = (output->needs & MT_SHOWS_MEMORY) && (output->needs & MT_FOR_READERS);
	const char *age = wishes->older_than > 0 ? "--older-than" : wishes->all ? "--all" : NULL;
	const char *option = wishes->at.when != MT_AT_END ? "--at" : age;
	char known[200];

	if (wishes->timeline && (wishes->older_than > 0 || wishes->at.when == MT_AT_PEAK))
		return mt_error_create(MT_ERR_USAGE, "%s and --timeline exclude each other",
				       wishes->older_than > 0 ? "--older-than" : "--at peak");
	if (wishes->all && analysis->ages && !analysis->narrows)
		age = "--all";
	list_of_moments(option == age, age && wishes->all, known, sizeof(known));
	if (age && analysis->moments && (!analysis->ages || (wishes->all && !analysis->narrows)))
		return mt_error_create(MT_ERR_USAGE, "%s is for %s, not for --%s", age, known,
				       analysis->name);
	if (!option || analysis->moments || (screen && !strcmp(option, "--all")))
		return NULL;
	return mt_error_hint(mt_error_create(MT_ERR_USAGE,
					     "%s is about what stands at a moment, which --%s does "
					     "not show",
					     option, analysis->name),
			     "these do: %s", known);
}

/* Whether the analysis knows every requested key. */
static struct mt_error *check_keys(const struct mt_analysis *analysis, const struct mt_by_list *by)
{
	char known[200];

	for (size_t i = 0; i < by->count; i++) {
		if (analysis->by & MT_BY_BIT(by->keys[i]))
			continue;
		mt_by_names(analysis->by, known, sizeof(known));
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--by %s: --%s does not know it",
						     mt_by_def(by->keys[i])->name, analysis->name),
				     "it knows: %s", *known ? known : "none");
	}
	return NULL;
}

/* Checks the key that groups the summary's processes and paths, or its table without these. */
static struct mt_error *check_screen_by(const struct mt_output *output, const struct mt_by_list *by)
{
	char names[100];

	if (by->count == 1 && (MT_BY_OF_SCREEN & MT_BY_BIT(by->keys[0])))
		return NULL;
	mt_by_names(MT_BY_OF_SCREEN, names, sizeof(names));
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--by %s: --%s takes one of %s",
					     mt_by_def(by->keys[0])->name, output->name, names),
			     "--table, --csv, --json and --folded know more");
}

static struct mt_error *check_by(const struct mt_analysis *analysis, const struct mt_output *output,
				 const struct mt_wishes *wishes, bool listing)
{
	const char *option = wishes->timeline ? "--timeline" : "--by";

	if (!wishes->by.count && !wishes->timeline)
		return NULL;
	if ((output->needs & MT_SHOWS_MEMORY) && !wishes->timeline)
		return check_screen_by(output, &wishes->by);
	if (listing)
		return mt_error_create(MT_ERR_USAGE, "%s makes sums, and --%s shows single events",
				       option, analysis->groups ? output->name : analysis->name);
	if (!(output->needs & MT_TAKES_KEYS))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--%s takes no %s", output->name,
						     option),
				     "--table, --csv, --json and --folded do");
	if (wishes->timeline && !(analysis->by & MT_BY_BIT(MT_BY_TIME)))
		return mt_error_create(MT_ERR_USAGE, "--%s knows no --timeline", analysis->name);
	return check_keys(analysis, &wishes->by);
}

static struct mt_error *check_compare(const struct mt_analysis *analysis,
				      const struct mt_output *output,
				      const struct mt_wishes *wishes, bool listing)
{
	if (!wishes->compare)
		return NULL;
	if (listing || analysis->judges || !analysis->by)
		return mt_error_create(MT_ERR_USAGE, "--base compares sums, and --%s has none",
				       listing ? output->name : analysis->name);
	if (wishes->timeline)
		return mt_error_create(MT_ERR_USAGE, "--base and --timeline exclude each other");
	if (!(output->needs & (MT_TAKES_KEYS | MT_SHOWS_RECORDING)))
		return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--%s shows no comparison",
						     output->name),
				     "--table, --csv, --json and --folded do");
	return NULL;
}

/* Default keys of a timeline. */
static struct mt_by_list timeline_keys(const struct mt_analysis *analysis)
{
	struct mt_by_list by = {0};

	mt_by_add(&by, MT_BY_PROCESS);
	if (analysis->by & MT_BY_BIT(MT_BY_KIND))
		mt_by_add(&by, MT_BY_KIND);
	return by;
}

static struct mt_by_list keys_of(const struct mt_analysis *analysis, const struct mt_output *output,
				 const struct mt_wishes *wishes)
{
	bool shows = analysis->judges || wishes->compare ||
		     (output->needs & (MT_NEEDS_STACK | MT_LIKES_STACK));
	bool screen = output->needs & MT_SHOWS_MEMORY;
	struct mt_by_list by = wishes->by.count && !screen ? wishes->by
			       : wishes->timeline	   ? timeline_keys(analysis)
							   : analysis->default_by;

	if ((!wishes->by.count || screen) && !shows)
		mt_by_remove(&by, MT_BY_STACK);
	if (screen && wishes->by.count && (output->needs & MT_FOR_READERS))
		return wishes->by;
	if (wishes->stacks ||
	    (((output->needs & MT_NEEDS_STACK) || screen) &&
	     (analysis->by & MT_BY_BIT(MT_BY_STACK)) && !mt_by_has(&by, MT_BY_RESERVER)))
		mt_by_add(&by, MT_BY_STACK);
	if (analysis->events_apart)
		mt_by_add_first(&by, MT_BY_EVENT);
	if (wishes->timeline)
		mt_by_add_first(&by, MT_BY_TIME);
	return by;
}

struct mt_error *mt_request_make(const struct mt_analysis *analysis, const struct mt_output *output,
				 const struct mt_wishes *wishes, struct mt_analysis_request *out)
{
	struct mt_analysis_request request = {
		.listing = (output->needs & MT_NEEDS_LISTING) || !analysis->groups,
		.interval = wishes->interval,
		.intervals = wishes->intervals,
		.argument = wishes->argument,
		.weight = wishes->weight,
		.at = wishes->at,
		.time = wishes->time,
		.older_than = wishes->older_than,
		.all = wishes->all,
		.compared = wishes->compare,
		.suppress = wishes->suppress,
	};
	struct mt_error *err = check_shape(analysis, output, wishes, request.listing);

	err = err ? err : check_moments(analysis, output, wishes);
	err = err ? err : check_by(analysis, output, wishes, request.listing);
	err = err ? err : check_compare(analysis, output, wishes, request.listing);
	if (!err && wishes->suppress && !(analysis->needs & MT_NEEDS_BLOCKS))
		err = mt_error_create(MT_ERR_USAGE,
				      "--suppress is for --blocks, --leaks and --temporary");
	if (err)
		return err;
	if (wishes->stacks && !request.listing && !(analysis->by & MT_BY_BIT(MT_BY_STACK)))
		return mt_error_create(MT_ERR_USAGE, "--stacks: --%s has none", analysis->name);
	if (request.listing) {
		request.stacks = (output->needs & MT_NEEDS_STACK) || wishes->stacks;
	} else if (output->needs & MT_SHOWS_RECORDING) {
		request.by = mt_page_keys(analysis, !wishes->compare);
		request.intervals = MT_PAGE_INTERVALS;
		request.even = request.stacks = true;
	} else {
		request.by = keys_of(analysis, output, wishes);
		request.stacks = mt_by_has(&request.by, MT_BY_STACK);
	}
	/* Two parts of a recording are compared as of the end of each part. */
	if (wishes->compare && analysis->moments && wishes->at.when == MT_AT_END)
		request.at = mt_at_end_of(&wishes->time);
	request.unwind = request.stacks || mt_by_has(&request.by, MT_BY_IMAGE) ||
			 mt_by_has(&request.by, MT_BY_RESERVER) || analysis->sources ||
			 analysis->dumps ||
			 ((output->needs & (MT_MEMORY_ALONGSIDE | MT_SHOWS_MEMORY)) &&
			  analysis == mt_analyses[0]);
	*out = request;
	return NULL;
}
