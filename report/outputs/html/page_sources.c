/* Writes the lines of sources column by column. */
#include "report/outputs/html/page_sources.h"

#include "formats/base/cleanup.h"
#include "report/outputs/annotate/source_lines.h"
#include "report/outputs/html/page_data.h"

static void write_all(const struct mt_source_lines *s, struct mt_page_data *data)
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

bool mt_page_sources_write(const struct mt_places *places, const struct mt_source_paths *paths,
			   uint64_t recorded, struct mt_page_data *data)
{
	MT_CLEANUP(mt_source_lines_deinit) struct mt_source_lines lines = {0};

	if (!mt_source_lines_read(&lines, places, paths, recorded))
		return false;
	write_all(&lines, data);
	return true;
}
