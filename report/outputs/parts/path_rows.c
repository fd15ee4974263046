/*
 * Turns sums by stack into sums by path.
 */
#include "report/outputs/parts/path_rows.h"

#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/sums/sum_table.h"
#include "report/tables/table.h"

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
