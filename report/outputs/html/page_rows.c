/*
 * A row is stored as the number of its set of keys, the node of its stack, its interval, and its
 * values, each column as differences from the row before.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "report/outputs/html/page_data.h"
#include "report/outputs/json.h"
#include "report/outputs/parts/cells.h"
#include "report/outputs/parts/places.h"
#include "report/stacks/frames.h"
#include "report/sums/sum_table.h"
#include "report/tables/byte_runs.h"
#include "report/tables/table.h"

enum {
	ROWS_MOST = 1500000, /* above this number rows are merged into intervals twice as long */
};

struct page_row {
	uint32_t set, node, interval;
	uint32_t index; /* of its values */
};

/* A value column that the page has. */
struct shown {
	size_t column;
	bool whole; /* all values are integers */
	bool again; /* equal to the first value column */
};

struct page_rows {
	struct mt_table *table;
	struct mt_byte_runs *sets; /* sets of keys, without stack and time */
	size_t key_columns[MT_GROUPS_COLUMNS], key_count;
	struct shown shown[MT_GROUPS_COLUMNS];
	size_t shown_count;
	size_t stack, time; /* key columns, or MT_COLUMN_NONE */
	uint64_t interval;  /* ns */
	MT_ARRAY(struct page_row) rows;
	MT_ARRAY(double) values;		 /* shown_count for each row */
	struct mt_value sums[MT_GROUPS_COLUMNS]; /* of all rows */
};

static void rows_deinit(struct page_rows *r)
{
	mt_array_deinit(&r->rows);
	mt_array_deinit(&r->values);
	mt_byte_runs_destroy(r->sets);
}

/* ---- Reading ---- */

/*
 * False for maxima, which do not add up, and for values that follow from others: pages from bytes,
 * the change of a comparison from both sides.
 */
static bool is_shown(const struct mt_table *table, size_t value)
{
	if (table->compared)
		return value < 2;
	return !(table->most >> value & 1) && strcmp(table->values[value].name, "pages") != 0;
}

static void choose_columns(struct page_rows *r)
{
	const struct mt_table *table = r->table;

	for (size_t i = 0; i < table->key_count; i++) {
		if (i != r->stack && i != r->time)
			r->key_columns[r->key_count++] = i;
	}
	for (size_t i = 0; i < table->value_count; i++) {
		if (is_shown(table, i))
			r->shown[r->shown_count++] = (struct shown){i, true, i > 0};
	}
}

static double number_of(double value)
{
	return isfinite(value) ? value : 0;
}

static void add_values(struct page_rows *r, const struct mt_row *row)
{
	size_t at = r->values.count;

	for (size_t i = 0; i < r->shown_count; i++) {
		double value = number_of(row->values[r->shown[i].column].value);

		*mt_array_push(&r->values) = value;
		r->shown[i].whole &= value == rint(value) && fabs(value) < 0x1p53;
		r->shown[i].again &= value == r->values.items[at];
	}
}

static void add_row(struct page_rows *r, struct mt_places *places, const struct mt_row *row)
{
	uint64_t keys[MT_GROUPS_COLUMNS];
	struct page_row added = {.index = (uint32_t)r->rows.count};

	for (size_t i = 0; i < r->key_count; i++)
		keys[i] = row->keys[r->key_columns[i]];
	added.set = mt_byte_runs_intern(r->sets, keys, r->key_count * sizeof(*keys));
	if (r->stack != MT_COLUMN_NONE)
		added.node = mt_places_stack(places, r->table, 0, (uint32_t)row->keys[r->stack]);
	if (r->interval)
		added.interval = (uint32_t)(row->keys[r->time] / r->interval);
	*mt_array_push(&r->rows) = added;
	add_values(r, row);
	mt_table_add_values(r->table, r->sums, row->values);
}

static struct mt_error *read_rows(struct page_rows *r, struct mt_places *places)
{
	struct mt_error *err = mt_table_rewind(r->table);
	struct mt_row row;

	if (r->table->frames)
		mt_frames_resolve(r->table->frames);
	while (mt_table_read(r->table, &row, &err))
		add_row(r, places, &row);
	return err;
}

/* ---- Order ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct page_row *x = a, *y = b;

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->interval < y->interval ? -1 : x->interval > y->interval;
}

static bool is_same(const struct page_row *x, const struct page_row *y, unsigned int shift)
{
	return x->set == y->set && x->node == y->node &&
	       x->interval >> shift == y->interval >> shift;
}

/* How many times the length of intervals has to be doubled, for at most ROWS_MOST rows. */
static unsigned int fit(const struct page_rows *r)
{
	unsigned int shift = 0;
	size_t count;

	do {
		count = 0;
		for (size_t i = 0; i < r->rows.count; i++)
			count += !i || !is_same(&r->rows.items[i - 1], &r->rows.items[i], shift);
	} while (count > ROWS_MOST && ++shift < 16);
	return shift;
}

static void merge_rows(struct page_rows *r, unsigned int shift)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->rows.count; i++) {
		struct page_row *row = &r->rows.items[i];
		struct page_row *last = kept ? &r->rows.items[kept - 1] : NULL;

		if (!last || !is_same(last, row, shift)) {
			r->rows.items[kept++] = *row;
			continue;
		}
		for (size_t k = 0; k < r->shown_count; k++)
			r->values.items[last->index * r->shown_count + k] +=
				r->values.items[row->index * r->shown_count + k];
	}
	r->rows.count = kept;
	for (size_t i = 0; i < kept; i++)
		r->rows.items[i].interval >>= shift;
	r->interval <<= shift;
}

/* ---- Writing ---- */

static void write_key(const struct page_rows *r, size_t key, struct mt_places *places,
		      struct mt_page_data *data)
{
	const struct mt_key_column *column = &r->table->keys[r->key_columns[key]];
	size_t count = mt_byte_runs_count(r->sets), size;
	struct mt_snippet room;
	FILE *json = mt_page_data_json(data);

	fprintf(json, "%s{\"name\":\"%s\",", key ? "," : "", column->name);
	mt_page_data_column(data, "sets", count);
	fputc('}', json);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *keys = mt_byte_runs_get(r->sets, i, &size);
		uint64_t all[MT_GROUPS_COLUMNS] = {0};
		const struct mt_row row = {.keys = all};
		const char *text;

		all[r->key_columns[key]] = keys[key];
		text = mt_cell_text(r->table, &row, r->key_columns[key], &room);
		mt_page_data_number(data, mt_places_text(places, text ? text : "-"));
	}
}

static void write_places(const struct page_rows *r, struct mt_page_data *data)
{
	static const char *const names[] = {"set", "node", "interval_of"};

	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
		int64_t last = 0;

		fputc(',', mt_page_data_json(data));
		mt_page_data_column(data, names[k], r->rows.count);
		for (size_t i = 0; i < r->rows.count; i++) {
			const struct page_row *row = &r->rows.items[i];
			int64_t now = k == 0 ? row->set : k == 1 ? row->node : row->interval;

			mt_page_data_signed(data, now - last);
			last = now;
		}
	}
}

static void write_value(const struct page_rows *r, size_t value, struct mt_page_data *data)
{
	const struct shown *shown = &r->shown[value];
	const struct mt_value_column *column = &r->table->values[shown->column];
	const struct mt_value *sum = &r->sums[shown->column];
	FILE *json = mt_page_data_json(data);

	fprintf(json,
		"%s{\"name\":\"%s\",\"unit\":\"%s\",\"sum\":%.17g,\"low\":%.17g,\"high\":%.17g",
		value ? "," : "", column->name, column->unit, number_of(sum->value),
		number_of(sum->low), number_of(sum->high));
	if (!shown->again) {
		fprintf(json, ",\"whole\":%s,", shown->whole ? "true" : "false");
		mt_page_data_column(data, "items", r->rows.count);
	}
	fputc('}', json);
	for (size_t i = 0; !shown->again && i < r->rows.count; i++) {
		double number = r->values.items[r->rows.items[i].index * r->shown_count + value];

		if (shown->whole)
			mt_page_data_signed(data, (int64_t)number);
		else
			mt_page_data_double(data, number);
	}
}

static void write_all(const struct page_rows *r, const struct mt_named_table *named,
		      struct mt_places *places, struct mt_page_data *data)
{
	FILE *json = mt_page_data_json(data);

	fprintf(json, "{\"name\":\"%s\",\"compared\":%s,\"interval\":%" PRIu64, named->name,
		r->table->compared ? "true" : "false", r->interval);
	if (r->table->compared)
		fprintf(json, ",\"scale\":%.17g", r->table->base_scale);
	if (named->limits) {
		fputs(",\"limits\":", json);
		mt_json_string(named->limits, json);
	}
	fputs(",\"keys\":[", json);
	for (size_t i = 0; i < r->key_count; i++)
		write_key(r, i, places, data);
	fputs("]", json);
	write_places(r, data);
	fputs(",\"values\":[", json);
	for (size_t i = 0; i < r->shown_count; i++)
		write_value(r, i, data);
	fputs("]}", json);
}

struct mt_error *mt_page_rows_write(const struct mt_named_table *named, struct mt_places *places,
				    struct mt_page_data *data)
{
	MT_CLEANUP(rows_deinit)
	struct page_rows r = {
		.table = named->table,
		.sets = mt_byte_runs_create(),
		.stack = mt_table_key_of_kind(named->table, MT_KEY_STACK),
		.time = named->table->interval ? mt_table_key(named->table, "time")
					       : MT_COLUMN_NONE,
	};
	struct mt_error *err;

	if (r.time != MT_COLUMN_NONE)
		r.interval = named->table->interval;
	choose_columns(&r);
	err = read_rows(&r, places);
	if (err)
		return err;
	if (r.rows.count)
		qsort(r.rows.items, r.rows.count, sizeof(*r.rows.items), compare_rows);
	merge_rows(&r, fit(&r));
	write_all(&r, named, places, data);
	return NULL;
}
