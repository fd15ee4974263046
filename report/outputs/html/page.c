/*
 * --html: one page for a whole recording, which only needs a browser: the summary, a timeline, and
 * for each analysis graphs and tables of its stacks. All texts of the recording are in compressed
 * data, never in the page's markup.
 */
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/outputs/html/page_data.h"
#include "report/outputs/json.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/places.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

MT_DEFINE_CLEANUP(mt_page_data, struct mt_page_data)
MT_DEFINE_CLEANUP(mt_places, struct mt_places)

static struct mt_error *put_tables(const struct mt_view *view, struct mt_table *table,
				   struct mt_places *places, struct mt_page_data *data)
{
	const struct mt_named_table samples = {.name = table->name, .table = table};
	FILE *json = mt_page_data_json(data);
	struct mt_error *err;

	fputs(",\"tables\":[", json);
	err = mt_page_rows_write(&samples, places, data);
	for (size_t i = 0; i < view->analysis_count && !err; i++) {
		if (!view->analyses[i].table->stacks)
			continue;
		fputc(',', json);
		err = mt_page_rows_write(&view->analyses[i], places, data);
	}
	fputs("],", json);
	return err;
}

/* Writes the skeleton up to a line with this word; returns the line after it. */
static const char *write_until(const char *skeleton, const char *word, FILE *to)
{
	const char *at = strstr(skeleton, word);

	fwrite(skeleton, 1, (size_t)(at - skeleton), to);
	return at + strlen(word);
}

static void write_page(struct mt_page_data *data, FILE *to)
{
	const char *at = write_until(mt_page_skeleton, "@style", to);

	fputs(mt_page_style, to);
	at = write_until(at, "@data", to);
	mt_page_data_write(data, to);
	at = write_until(at, "@script", to);
	fputs(mt_page_script, to);
	fputs(at, to);
}

static struct mt_error *write_html(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(mt_page_data_destroy_p) struct mt_page_data *data = mt_page_data_create();
	MT_CLEANUP(mt_places_destroy_p) struct mt_places *places = mt_places_create();
	const struct mt_facts *facts = view->facts;
	uint64_t recorded = facts->recordings.count ? facts->recordings.items[0].start_utc : 0;
	struct mt_error *err;

	err = mt_page_facts_put(view, mt_page_data_json(data));
	err = err ? err : mt_page_summary_put(view, table, places, mt_page_data_json(data));
	err = err ? err : put_tables(view, table, places, data);
	if (err)
		return err;
	mt_page_stacks_write(places, data);
	mt_page_sources_write(places, view->source_paths, recorded, data);
	write_page(data, to);
	return NULL;
}

const struct mt_output mt_output_html = {
	.name = "html",
	.argument = "OUT.html",
	.help = "one page of all analyses, to be opened in a browser",
	.needs = MT_NEEDS_STACK | MT_REPORTS_FACTS | MT_SHOWS_MEMORY | MT_SHOWS_RECORDING,
	.write = write_html,
};
