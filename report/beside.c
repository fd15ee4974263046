/* Memory of the recording itself; analyses of both recordings, where there is a base. */
#include "report/beside.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/analyses/beside/memory_beside.h"
#include "report/analyses/beside/recording_tables.h"
#include "report/cli/options.h"
#include "report/outputs/outputs.h"
#include "report/sums/baseline.h"
#include "report/tables/table.h"

MT_DEFINE_CLEANUP(mt_beside, struct mt_beside)

struct mt_beside {
	const struct mt_report_options *options;
	struct mt_session *session;
	struct mt_baseline *baseline; /* or NULL */
	struct mt_memory_beside *memory;
	struct mt_recording_tables *now, *base; /* or NULL */
};

void mt_beside_destroy(struct mt_beside *beside)
{
	if (!beside)
		return;
	mt_recording_tables_destroy(beside->base);
	mt_recording_tables_destroy(beside->now);
	mt_memory_beside_destroy(beside->memory);
	free(beside);
}

static struct mt_error *listen_to_all(const struct mt_report_options *options,
				      struct mt_beside *beside)
{
	struct mt_recording_how how = {
		.time = options->selection.time,
		.compared = beside->baseline,
		.part = beside->baseline &&
			(options->selection.time.given || options->baseline.time.given),
	};
	struct mt_error *err = mt_recording_tables_listen(beside->session, &how, &beside->now);

	if (err || !beside->baseline)
		return err;
	if (options->baseline.time.given)
		how.time = options->baseline.time;
	return mt_recording_tables_listen(mt_baseline_reading(beside->baseline), &how,
					  &beside->base);
}

struct mt_error *mt_beside_listen(const struct mt_report_options *options,
				  struct mt_session *session, struct mt_baseline *baseline,
				  struct mt_beside **out)
{
	bool whole = options->output->needs & MT_SHOWS_RECORDING;
	const struct mt_by_list none = {0};
	MT_CLEANUP(mt_beside_destroy_p) struct mt_beside *beside = NULL;
	struct mt_error *err;

	if ((baseline && !whole) ||
	    !(options->output->needs & (MT_SHOWS_MEMORY | MT_MEMORY_BESIDE)) ||
	    options->analysis != mt_analyses[0])
		return NULL;
	beside = calloc(1, sizeof(*beside));
	if (!beside)
		return mt_error_nomem();
	beside->options = options;
	beside->session = session;
	beside->baseline = baseline;
	err = mt_memory_listen(session, &options->selection.time,
			       options->output->needs & MT_MEMORY_BESIDE ? &none
									 : &options->wishes.by,
			       &beside->memory);
	if (!err && whole)
		err = listen_to_all(options, beside);
	if (!err)
		*out = MT_TAKE(beside);
	return err;
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

/* Puts the comparison in the place of each table of now. */
static struct mt_error *compare(struct mt_beside *beside)
{
	size_t count;
	struct mt_named_table *all = mt_recording_tables_get(beside->now, &count);
	struct mt_error *err = NULL;

	for (size_t i = 0; i < count && !err; i++) {
		const struct mt_analysis *analysis = analysis_of(all[i].name);
		struct mt_table *base = table_of(beside->base, all[i].name), *made;

		if (!analysis || !base)
			continue;
		err = mt_baseline_contrast(beside->baseline, analysis, NULL, beside->session, base,
					   all[i].table, &made);
		if (err)
			break;
		mt_table_destroy(all[i].table);
		all[i].table = made;
	}
	return err;
}

struct mt_error *mt_beside_finish(struct mt_beside *beside)
{
	struct mt_error *err = beside ? mt_memory_finish(beside->memory) : NULL;

	if (err || !beside || !beside->now)
		return err;
	err = mt_recording_tables_finish(beside->now, mt_memory_gauges(beside->memory));
	if (err || !beside->base)
		return err;
	err = mt_recording_tables_finish(beside->base, NULL);
	return err ? err : compare(beside);
}

bool mt_beside_is_gauged(const struct mt_beside *beside)
{
	const struct mt_selection *asked = beside ? &beside->options->selection : NULL;
	const struct mt_named_table *tables;
	bool given, empty = true;
	size_t count;

	/* Gauges know neither events nor stacks nor CPUs. */
	if (!beside || asked->events || asked->dsos || asked->symbols || asked->cpus.count ||
	    (beside->options->output->needs & (MT_SHOWS_RECORDING | MT_MEMORY_BESIDE)))
		return false;
	given = mt_selection_given(asked);
	tables = mt_memory_tables(beside->memory, &count);
	for (size_t i = 0; i < count && empty; i++) {
		if (!strcmp(tables[i].name, given ? "processes" : "host"))
			mt_error_destroy(mt_table_is_empty(tables[i].table, &empty));
	}
	return !empty;
}

void mt_beside_show(const struct mt_beside *beside, struct mt_view *view)
{
	view->beside = mt_memory_tables(beside->memory, &view->beside_count);
	if (beside->now)
		view->analyses = mt_recording_tables_get(beside->now, &view->analysis_count);
}
