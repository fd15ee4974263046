/* Writes the facts as JSON. Times are seconds since the start of their recording. */
#include "report/outputs/html/page_data.h"

#include <inttypes.h>

#include "report/outputs/json.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

static double seconds(const struct mt_facts_recording *recording, uint64_t time)
{
	return time > recording->start ? (double)(time - recording->start) / 1e9 : 0;
}

static void put_text(const char *name, const char *text, FILE *json)
{
	fprintf(json, ",\"%s\":", name);
	mt_json_string(text ? text : "", json);
}

static void put_losses(const struct mt_facts_recording *recording, FILE *json)
{
	fputs(",\"losses\":[", json);
	for (size_t i = 0; i < recording->losses.count; i++) {
		const struct mt_facts_loss *loss = &recording->losses.items[i];

		fprintf(json, "%s{\"from\":%.9f,\"to\":%.9f}", i ? "," : "",
			seconds(recording, loss->from), seconds(recording, loss->to));
	}
	fputc(']', json);
}

static void put_recordings(const struct mt_facts *facts, FILE *json)
{
	static const char *const infos[] = {"host", "kernel"};

	fputs("\"recordings\":[", json);
	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &facts->recordings.items[i];

		fprintf(json, "%s{\"seconds\":%.9f,\"lost\":%" PRIu64, i ? "," : "",
			seconds(r, r->end), mt_facts_lost(r));
		put_text("file", r->file, json);
		for (size_t k = 0; k < sizeof(infos) / sizeof(*infos); k++)
			put_text(infos[k], mt_facts_info(r, infos[k]), json);
		put_text("start", r->start_utc ? mt_text_date(r->start_utc).text : "", json);
		put_losses(r, json);
		fputc('}', json);
	}
	fputc(']', json);
}

static void put_words(const struct mt_view *view, FILE *json)
{
	fputs(",\"words\":[", json);
	for (size_t i = 0; i < view->word_count; i++) {
		fputs(i ? "," : "", json);
		mt_json_string(view->words[i], json);
	}
	fputc(']', json);
}

/* A table without stacks, as --json writes it. */
static struct mt_error *put_table(const struct mt_view *view, const struct mt_named_table *named,
				  FILE *json)
{
	struct mt_view all = *view;
	struct mt_error *err;

	all.limit = (struct mt_row_limit){0};
	all.weighed = false;
	fprintf(json, ",\"%s\":{", named->name);
	err = mt_table_rewind(named->table);
	err = err ? err : mt_json_table(&all, named->table, json);
	fputc('}', json);
	return err;
}

struct mt_error *mt_page_facts_put(const struct mt_view *view, FILE *json)
{
	struct mt_error *err = NULL;

	put_recordings(view->facts, json);
	put_words(view, json);
	put_text("shown", view->shown_first ? view->shown_first : "", json);
	for (size_t i = 0; i < view->analysis_count && !err; i++) {
		if (!view->analyses[i].table->stacks)
			err = put_table(view, &view->analyses[i], json);
	}
	return err;
}
