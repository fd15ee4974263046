/* Reads memory of the recording itself, and, with a base, all other analyses of both recordings. */
#include "report/alongside.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "report/analyses/alongside/memory_alongside.h"
#include "report/analyses/alongside/recording_tables.h"
#include "report/analyses/analyses.h"
#include "report/cli/options.h"
#include "report/cli/registry.h"
#include "report/outputs/outputs.h"
#include "report/sums/baseline.h"
#include "report/tables/table.h"

struct mt_alongside {
	const struct mt_report_options *options;
	struct mt_session *session;
	struct mt_baseline *baseline; /* or NULL */
	struct mt_memory_alongside *memory;
	struct mt_recording_tables *now, *base; /* or NULL */
};

void mt_alongside_destroy(struct mt_alongside *alongside)
{
	if (!alongside)
		return;
	mt_recording_tables_destroy(alongside->base);
	mt_recording_tables_destroy(alongside->now);
	mt_memory_alongside_destroy(alongside->memory);
	free(alongside);
}

static void listen_to_all(const struct mt_report_options *options, struct mt_alongside *alongside)
{
	struct mt_recording_how how = {
		.analyses = mt_analyses,
		.time = options->selection.time,
		.compared = alongside->baseline,
		.part = alongside->baseline &&
			(options->selection.time.given || options->baseline.time.given),
	};

	alongside->now = mt_recording_tables_listen(alongside->session, &how);
	if (!alongside->baseline)
		return;
	if (options->baseline.time.given)
		how.time = options->baseline.time;
	alongside->base =
		mt_recording_tables_listen(mt_baseline_reading(alongside->baseline), &how);
}

struct mt_alongside *mt_alongside_listen(const struct mt_report_options *options,
					 struct mt_session *session, struct mt_baseline *baseline)
{
	bool whole = options->output->needs & MT_SHOWS_RECORDING;
	const struct mt_by_list none = {0};
	struct mt_alongside *alongside;

	if ((baseline && !whole) ||
	    !(options->output->needs & (MT_SHOWS_MEMORY | MT_MEMORY_ALONGSIDE)) ||
	    options->analysis != mt_analyses[0])
		return NULL;
	alongside = mt_alloc(1, sizeof(*alongside));
	alongside->options = options;
	alongside->session = session;
	alongside->baseline = baseline;
	alongside->memory = mt_memory_listen(
		session, &options->selection.time,
		options->output->needs & MT_MEMORY_ALONGSIDE ? &none : &options->wishes.by);
	if (whole)
		listen_to_all(options, alongside);
	return alongside;
}

/* ---- The end ---- */

static const struct mt_analysis *analysis_of(const char *name)
{
	size_t i = 0;

	while (mt_analyses[i] && strcmp(mt_analyses[i]->name, name) != 0)
		i++;
	return mt_analyses[i];
}

static struct mt_table *table_of(struct mt_recording_tables *tables, const char *name)
{
	size_t count;
	struct mt_named_table *all = mt_recording_tables_get(tables, &count);

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(all[i].name, name))
			return all[i].table;
	}
	return NULL;
}

/* Replaces each table of `now` by its comparison with the base. */
static struct mt_error *compare(struct mt_alongside *alongside)
{
	size_t count;
	struct mt_named_table *all = mt_recording_tables_get(alongside->now, &count);
	struct mt_error *err = NULL;

	for (size_t i = 0; i < count && !err; i++) {
		const struct mt_analysis *analysis = analysis_of(all[i].name);
		struct mt_table *base = table_of(alongside->base, all[i].name), *made;

		if (!analysis || !base)
			continue;
		err = mt_baseline_contrast(alongside->baseline, analysis, NULL, alongside->session,
					   base, all[i].table, &made);
		if (err)
			break;
		mt_table_destroy(all[i].table);
		all[i].table = made;
	}
	return err;
}

struct mt_error *mt_alongside_finish(struct mt_alongside *alongside)
{
	struct mt_error *err = alongside ? mt_memory_finish(alongside->memory) : NULL;

	if (err || !alongside || !alongside->now)
		return err;
	err = mt_recording_tables_finish(alongside->now, mt_memory_gauges(alongside->memory));
	if (err || !alongside->base)
		return err;
	err = mt_recording_tables_finish(alongside->base, NULL);
	return err ? err : compare(alongside);
}

bool mt_alongside_is_gauged(const struct mt_alongside *alongside)
{
	const struct mt_selection *asked = alongside ? &alongside->options->selection : NULL;
	const struct mt_named_table *tables;
	bool given, empty = true;
	size_t count;

	/* Gauges have neither events nor stacks nor CPUs. */
	if (!alongside || asked->events || asked->dsos || asked->symbols || asked->cpus.count ||
	    (alongside->options->output->needs & (MT_SHOWS_RECORDING | MT_MEMORY_ALONGSIDE)))
		return false;
	given = mt_selection_given(asked);
	tables = mt_memory_tables(alongside->memory, &count);
	for (size_t i = 0; i < count && empty; i++) {
		if (!strcmp(tables[i].name, given ? "processes" : "host"))
			mt_error_destroy(mt_table_is_empty(tables[i].table, &empty));
	}
	return !empty;
}

void mt_alongside_show(const struct mt_alongside *alongside, struct mt_view *view)
{
	view->alongside = mt_memory_tables(alongside->memory, &view->alongside_count);
	if (alongside->now)
		view->analyses = mt_recording_tables_get(alongside->now, &view->analysis_count);
}
