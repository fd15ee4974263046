/*
 * --html: one page for a whole recording, which only needs a browser: the summary, a timeline, and
 * for each analysis graphs and tables of its stacks. All texts of the recording are in compressed
 * data, never in the page's markup.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/memory.h"
#include "formats/base/strings.h"
#include "report/outputs/annotate/source_file.h"
#include "report/outputs/html/page_data.h"
#include "report/outputs/json.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/places.h"
#include "report/stacks/frames.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

MT_DEFINE_CLEANUP(mt_page_data, struct mt_page_data)
MT_DEFINE_CLEANUP(mt_places, struct mt_places)

/* ---- Facts: members of a JSON object. Times are seconds since the start of their recording ----
 */

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

static struct mt_error *put_facts(const struct mt_view *view, FILE *json)
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

/*
 * ---- The first screen: the text for a terminal, and for each of its rows the process and the node
 * that the page shows, as members "links" and "summary" ----
 */

struct screen {
	FILE *json, *to;
	char *text;
	size_t size, read, line; /* of the text */
	size_t links;
	struct mt_places *places;
};

static void screen_deinit(struct screen *screen)
{
	fclose(screen->to);
	free(screen->text);
}

/* Number of the text's current line, from 0. */
static size_t line_of(struct screen *screen)
{
	fflush(screen->to);
	for (; screen->read < screen->size; screen->read++)
		screen->line += screen->text[screen->read] == '\n';
	return screen->line;
}

static void put_link(void *context, const struct mt_summary_row *row)
{
	struct screen *screen = context;
	FILE *json = screen->json;

	fprintf(json, "%s{\"line\":%zu,\"pid\":%ld,\"process\":", screen->links++ ? "," : "",
		line_of(screen), row->pid);
	mt_json_string(row->process, json);
	if (row->table && row->name != MT_STRING_NONE) {
		fprintf(json, ",\"table\":\"%s\",\"node\":%u,\"name\":", row->table->name,
			mt_places_stack(screen->places, row->table, 0, row->stack));
		mt_json_string(mt_strings_get(mt_frames_strings(row->table->frames), row->name),
			       json);
	}
	fputc('}', json);
}

static struct mt_error *put_summary(const struct mt_view *view, struct mt_table *table,
				    struct mt_places *places, FILE *json)
{
	MT_CLEANUP(screen_deinit) struct screen screen = {.json = json, .places = places};
	struct mt_view shown = *view;
	struct mt_error *err;

	screen.to = mt_open_text(&screen.text, &screen.size);
	shown.width = 100;
	shown.utf8 = true;
	shown.colour = false;
	shown.on_row = put_link;
	shown.on_row_context = &screen;
	fputs(",\"links\":[", json);
	err = table->compared ? NULL : mt_output_summary.write(&shown, table, screen.to);
	fputs("],\"summary\":", json);
	if (fflush(screen.to))
		mt_memory_failed();
	if (!err)
		mt_json_string(screen.text, json);
	return err;
}

/* ---- The files of the page ---- */

/*
 * The texts of the page's files, NUL-terminated. In the skeleton, the lines "@style", "@data" and
 * "@script" are replaced. The script is all scripts, in the order in which they run. The assembler
 * reads the files, which the Makefile lists as dependencies of this file.
 */
extern const char mt_page_skeleton[], mt_page_style[], mt_page_script[];

#define BEGIN(symbol)            \
	".pushsection .rodata\n" \
	".globl " symbol "\n"    \
	".type " symbol ", @object\n" symbol ":\n"
#define FILE_OF(name) ".incbin \"report/outputs/html/" name "\"\n"
#define END(symbol)                          \
	".byte 0\n"                          \
	".size " symbol ", . - " symbol "\n" \
	".popsection\n"

__asm__(BEGIN("mt_page_skeleton") FILE_OF("page.html") END("mt_page_skeleton"));
__asm__(BEGIN("mt_page_style") FILE_OF("page.css") END("mt_page_style"));
__asm__(BEGIN("mt_page_script") FILE_OF("data.js") FILE_OF("model.js") FILE_OF("graph.js")
		FILE_OF("lists.js") FILE_OF("timeline.js") FILE_OF("page.js")
			END("mt_page_script"));

/* ---- Stacks: places, the tree of nodes through them, and source lines, column by column ---- */

static void write_texts(const struct mt_places *places, struct mt_page_data *data)
{
	size_t count = mt_places_text_count(places);

	mt_page_data_column(data, "texts", count);
	for (uint32_t i = 0; i < count; i++)
		mt_page_data_text(data, mt_places_get_text(places, i));
	fputc(',', mt_page_data_json(data));
}

/* Writes one field of all places as a column. */
static void write_field(const struct mt_places *places, const char *name, size_t offset,
			struct mt_page_data *data)
{
	size_t count = mt_places_count(places);

	mt_page_data_column(data, name, count);
	for (uint32_t i = 0; i < count; i++) {
		const char *place = (const char *)mt_places_get(places, i);

		mt_page_data_number(data, *(const uint32_t *)(place + offset));
	}
	fputc(',', mt_page_data_json(data));
}

/* Writes the nodes. A node comes after its parent, mostly immediately, so distances are stored. */
static void write_nodes(const struct mt_places *places, struct mt_page_data *data)
{
	size_t count = mt_places_node_count(places);

	mt_page_data_column(data, "parent", count);
	for (uint32_t i = 1; i <= count; i++)
		mt_page_data_number(data, i - mt_places_node(places, i).parent);
	fputc(',', mt_page_data_json(data));
	mt_page_data_column(data, "place", count);
	for (uint32_t i = 1; i <= count; i++)
		mt_page_data_number(data, mt_places_node(places, i).place);
}

static void write_stacks(const struct mt_places *places, struct mt_page_data *data)
{
	write_texts(places, data);
	write_field(places, "name", offsetof(struct mt_stack_place, name), data);
	write_field(places, "image", offsetof(struct mt_stack_place, image), data);
	write_field(places, "file", offsetof(struct mt_stack_place, file), data);
	write_field(places, "line", offsetof(struct mt_stack_place, line), data);
	write_field(places, "kinds", offsetof(struct mt_stack_place, kinds), data);
	write_nodes(places, data);
}

static void write_sources(const struct mt_source_lines *s, struct mt_page_data *data)
{
	FILE *json = mt_page_data_json(data);

	fprintf(json, ",\"source_left\":%zu,\"source_changed\":[", s->left);
	for (size_t i = 0; i < s->changed.count; i++)
		fprintf(json, "%s%u", i ? "," : "", s->changed.items[i]);
	fputs("],", json);
	mt_page_data_column(data, "source_file", s->lines.count);
	for (size_t i = 0; i < s->lines.count; i++)
		mt_page_data_number(data, s->lines.items[i].file);
	fputc(',', json);
	mt_page_data_column(data, "source_line", s->lines.count);
	for (size_t i = 0; i < s->lines.count; i++)
		mt_page_data_number(data, s->lines.items[i].line);
	fputc(',', json);
	mt_page_data_column(data, "source_text", s->lines.count);
	for (size_t i = 0; i < s->lines.count; i++)
		mt_page_data_text(data, s->lines.items[i].text);
}

/*
 * Writes the columns "source_file" (ids of texts), "source_line" and "source_text", and members
 * "source_changed" (ids of files that changed after the recording) and "source_left" (how many
 * lines had no room).
 */
static void put_sources(const struct mt_places *places, const struct mt_source_paths *paths,
			uint64_t recorded, struct mt_page_data *data)
{
	MT_CLEANUP(mt_source_lines_deinit) struct mt_source_lines lines = {0};

	mt_source_lines_read(&lines, places, paths, recorded);
	write_sources(&lines, data);
}

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

	err = put_facts(view, mt_page_data_json(data));
	err = err ? err : put_summary(view, table, places, mt_page_data_json(data));
	err = err ? err : put_tables(view, table, places, data);
	if (err)
		return err;
	write_stacks(places, data);
	put_sources(places, view->source_paths, recorded, data);
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
