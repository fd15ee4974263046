/* Writes places, the tree of nodes through them, and source lines, column by column. */
#include <stddef.h>
#include <stdio.h>

#include "formats/base/cleanup.h"
#include "report/outputs/annotate/source_file.h"
#include "report/outputs/html/page_data.h"
#include "report/outputs/parts/places.h"

static void write_texts(const struct mt_places *places, struct mt_page_data *data)
{
	size_t count = mt_places_text_count(places);

	mt_page_data_column(data, "texts", count);
	for (uint32_t i = 0; i < count; i++)
		mt_page_data_text(data, mt_places_get_text(places, i));
	fputc(',', mt_page_data_json(data));
}

/* One field of all places as a column. */
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

/* A node comes after its parent, mostly immediately: the distance is stored. */
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

void mt_page_stacks_write(const struct mt_places *places, struct mt_page_data *data)
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

void mt_page_sources_write(const struct mt_places *places, const struct mt_source_paths *paths,
			   uint64_t recorded, struct mt_page_data *data)
{
	MT_CLEANUP(mt_source_lines_deinit) struct mt_source_lines lines = {0};

	mt_source_lines_read(&lines, places, paths, recorded);
	write_sources(&lines, data);
}
