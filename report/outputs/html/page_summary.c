/*
 * The first screen: the text for a terminal, and for each of its rows the process and the node that
 * the page shows.
 */
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/memory.h"
#include "formats/base/strings.h"
#include "report/outputs/html/page_data.h"
#include "report/outputs/json.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/places.h"
#include "report/stacks/frames.h"
#include "report/tables/table.h"

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

struct mt_error *mt_page_summary_put(const struct mt_view *view, struct mt_table *table,
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
