/*
 * Formats keys by kind, and figures.
 */
#include "report/outputs/parts/cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/outputs/parts/path_rows.h"
#include "report/stacks/stacks.h"
#include "report/tables/table.h"

bool mt_cell_is_path(const struct mt_table *table, size_t column)
{
	return table->keys[column].kind == MT_KEY_STACK || table->keys[column].kind == MT_KEY_PATH;
}

const char *mt_cell_text(const struct mt_table *table, const struct mt_row *row, size_t column,
			 struct mt_snippet *room)
{
	uint64_t key = row->keys[column];
	enum mt_key_kind kind = table->keys[column].kind;

	if (kind == MT_KEY_STRING)
		return mt_table_string(table, row, column);
	if (kind == MT_KEY_SIGNED ? (int64_t)key == INT64_MIN : key == UINT64_MAX)
		return NULL;
	if (kind == MT_KEY_ADDRESS)
		snprintf(room->text, sizeof(room->text), "0x%" PRIx64, key);
	else if (kind == MT_KEY_TIME || kind == MT_KEY_SPAN)
		snprintf(room->text, sizeof(room->text), "%" PRIu64 ".%09" PRIu64, key / 1000000000,
			 key % 1000000000);
	else if (kind == MT_KEY_SIGNED)
		snprintf(room->text, sizeof(room->text), "%" PRId64, (int64_t)key);
	else
		snprintf(room->text, sizeof(room->text), "%" PRIu64, key);
	return room->text;
}

const uint32_t *mt_cell_path(const struct mt_path_rows *rows, const struct mt_row *row,
			     size_t column, size_t *count)
{
	uint32_t path = (uint32_t)row->keys[column];

	if (rows->table->keys[column].kind == MT_KEY_STACK)
		path = mt_paths_of(rows->paths, path);
	return mt_paths_get(rows->paths, path, count);
}

struct mt_snippet mt_cell_figure(double value)
{
	struct mt_snippet out = {""};

	if (!isfinite(value))
		return out;
	if (fabs(value) < 1e18 && value == (double)(int64_t)value) {
		snprintf(out.text, sizeof(out.text), "%" PRId64, (int64_t)value);
		return out;
	}
	for (int digits = 15; digits <= 17; digits++) { /* the fewest digits that read back equal */
		snprintf(out.text, sizeof(out.text), "%.*g", digits, value);
		if (strtod(out.text, NULL) == value)
			break;
	}
	return out;
}

struct mt_error *mt_has_several_events(struct mt_table *table, bool *several)
{
	size_t event = mt_table_key(table, "event");
	struct mt_error *err = NULL;
	uint64_t first = 0;
	struct mt_row row;

	*several = false;
	if (event == MT_COLUMN_NONE)
		return NULL;
	for (size_t i = 0; !*several && mt_table_read(table, &row, &err); i++) {
		*several = i && row.keys[event] != first;
		first = row.keys[event];
	}
	return err ? err : mt_table_rewind(table);
}

bool mt_value_is_exact(const struct mt_value *value)
{
	return isnan(value->value) || (value->low == value->value && value->high == value->value);
}

const char *mt_figure_text(const struct mt_value *value, char room[MT_FIGURE_ROOM])
{
	if (!isfinite(value->value))
		snprintf(room, MT_FIGURE_ROOM, "-");
	else if (mt_value_is_exact(value))
		snprintf(room, MT_FIGURE_ROOM, "%s", mt_text_count(value->value).text);
	else
		snprintf(room, MT_FIGURE_ROOM, "%s (%s..%s)", mt_text_count(value->value).text,
			 mt_text_count(value->low).text, mt_text_count(value->high).text);
	return room;
}
