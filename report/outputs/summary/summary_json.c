/*
 * --summary --json: the parts of the summary in the order of the screen, for programs. Figures are
 * exact, and each part has its first rows, heaviest first.
 */
#include <string.h>

#include "report/outputs/json.h"
#include "report/outputs/outputs.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

enum {
	ROWS = 20, /* rows of a part, unless --top is given */
};

struct block {
	const char *name;
	struct mt_table *table;
};

static void put_info(const struct mt_facts_recording *r, const char *key, const char *name,
		     FILE *to)
{
	const char *value = mt_facts_info(r, key);

	if (!value)
		return;
	fprintf(to, ", \"%s\": ", name);
	mt_json_string(value, to);
}

static void put_recordings(const struct mt_facts *facts, FILE *to)
{
	fputs("\"recordings\": [", to);
	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &facts->recordings.items[i];

		fputs(i ? ",\n  {\"file\": " : "\n  {\"file\": ", to);
		mt_json_string(r->file, to);
		fprintf(to, ", \"seconds\": %.9f", (double)(r->end - r->start) / 1e9);
		put_info(r, "host", "host", to);
		put_info(r, "kernel", "kernel", to);
		put_info(r, "cpus", "cpus", to);
		if (r->start_utc)
			fprintf(to, ", \"start\": \"%s\"", mt_text_date(r->start_utc).text);
		fputc('}', to);
	}
	fputs("]", to);
}

struct notes {
	FILE *to;
	size_t count;
};

static void put_note(void *context, const char *note)
{
	struct notes *notes = context;

	fputs(notes->count++ ? ",\n  " : "\n  ", notes->to);
	mt_json_string(note, notes->to);
}

static struct mt_error *put_block(const struct mt_view *view, const struct block *block, FILE *to)
{
	struct mt_view whole = *view;
	struct mt_error *err = mt_table_weight(block->table, NULL, &whole.value);

	whole.weighed = false;
	if (err)
		return err;
	fprintf(to, ",\n\"%s\": {\n", block->name);
	/* The gauges of the host are not sorted by weight, so all are shown. */
	if (!strcmp(block->name, "host"))
		whole.limit = (struct mt_row_limit){0};
	else if (!whole.limit.top)
		whole.limit.top = ROWS;
	err = mt_json_table(&whole, block->table, to);
	fputs("\n}", to);
	return err;
}

static struct mt_error *write_summary_json(const struct mt_view *view, struct mt_table *table,
					   FILE *to)
{
	struct mt_table *growth = mt_view_alongside(view, "growth"),
			*resident = mt_view_alongside(view, "resident"),
			*live = mt_view_alongside(view, "blocks");
	const struct block blocks[] = {
		{"host", mt_view_alongside(view, "host")},
		{"who_grew", mt_view_alongside(view, "processes")},
		{"by_which_blocks", live},
		{"by_which_path", resident ?: growth},
		{"is_it_a_leak", mt_view_alongside(view, "verdict")},
		{"counts", growth || resident || live ? NULL : table},
	};
	const struct mt_summary s = {.view = view};
	struct notes notes = {.to = to};
	struct mt_error *err = NULL;

	fputs("{\n\"summary\": {\n", to);
	put_recordings(view->facts, to);
	fputs(",\n\"notes\": [", to);
	mt_summary_notes(&s, put_note, &notes);
	fputc(']', to);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]) && !err; i++)
		err = blocks[i].table ? put_block(view, &blocks[i], to) : NULL;
	if (err)
		return err;
	fputs("\n},\n", to);
	mt_json_facts(view->facts, to);
	fputs("}\n", to);
	return NULL;
}

const struct mt_output mt_output_summary_json = {
	.name = "summary-json",
	.help = "the same for programs; also --summary --json",
	.rare = true,
	.needs = MT_NEEDS_STACK | MT_SHOWS_MEMORY | MT_IS_JSON,
	.write = write_summary_json,
};
