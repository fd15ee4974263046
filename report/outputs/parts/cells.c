/* Formats keys by kind, and figures; turns sums by stack into sums by path. */
#include "report/outputs/parts/cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/sums/sum_table.h"
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

/* ---- Sums by path ---- */

MT_DEFINE_CLEANUP(mt_sum_table, struct mt_sum_table)

static struct mt_error *sum_rows(struct mt_table *table, struct mt_paths *paths,
				 struct mt_sum_table *groups)
{
	uint64_t keys[MT_GROUPS_COLUMNS];
	struct mt_error *err = NULL;
	struct mt_row row;

	while (mt_table_read(table, &row, &err)) {
		for (size_t i = 0; i < table->key_count; i++)
			keys[i] = table->keys[i].kind == MT_KEY_STACK
					  ? mt_paths_of(paths, (uint32_t)row.keys[i])
					  : row.keys[i];
		mt_sum_table_add(groups, keys, row.values);
	}
	return err;
}

static struct mt_error *make_sums(struct mt_path_rows *rows, size_t weight)
{
	struct mt_key_column columns[MT_GROUPS_COLUMNS];
	struct mt_table shape = *rows->table;
	MT_CLEANUP(mt_sum_table_destroy_p) struct mt_sum_table *groups = NULL;
	struct mt_error *err;

	if (shape.key_count > MT_GROUPS_COLUMNS)
		return mt_error_create(MT_ERR_UNSUPPORTED, "--%s has too many columns", shape.name);
	memcpy(columns, shape.keys, shape.key_count * sizeof(*columns));
	for (size_t i = 0; i < shape.key_count; i++)
		columns[i].kind = columns[i].kind == MT_KEY_STACK ? MT_KEY_PATH : columns[i].kind;
	shape.keys = columns;
	groups = mt_sum_table_create(&shape);
	mt_frames_resolve(rows->table->frames);
	err = sum_rows(rows->table, rows->paths, groups);
	if (err)
		return err;
	if (!shape.ordered)
		mt_sum_table_sort(groups, weight);
	rows->table = rows->made = mt_sum_table_table(MT_TAKE(groups));
	return NULL;
}

struct mt_error *mt_path_rows_init(struct mt_table *table, bool srcline, size_t weight,
				   const struct mt_row_limit *limit, struct mt_path_rows *out)
{
	struct mt_error *err = NULL;

	*out = (struct mt_path_rows){.table = table};
	if (mt_table_key_of_kind(table, MT_KEY_STACK) != MT_COLUMN_NONE) {
		out->paths = mt_paths_create(table->stacks, table->frames, srcline);
		if (!table->listing)
			err = make_sums(out, weight);
	}
	err = err ? err : mt_limited_table_init(&out->limited, out->table, weight, limit);
	out->table = &out->limited.table;
	return err;
}

void mt_path_rows_deinit(struct mt_path_rows *rows)
{
	mt_table_destroy(rows->made);
	mt_paths_destroy(rows->paths);
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
