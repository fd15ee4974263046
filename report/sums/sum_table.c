/*
 * Merges rows by interned tuples of keys.
 */
#include "report/sums/sum_table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "report/tables/byte_runs.h"
#include "report/tables/estimate.h"
#include "symbols/tables/address_sort.h"

struct mt_sum_table {
	struct mt_table table; /* first: ops get a pointer to it */
	struct mt_key_column columns[MT_GROUPS_COLUMNS];
	struct mt_value_column value_columns[MT_GROUPS_COLUMNS];
	struct mt_byte_runs *keys;
	MT_ARRAY(struct mt_value) values; /* value_count for each row */
	MT_ARRAY(uint32_t) order;	  /* rows in their order, once sorted */
	uint32_t at;			  /* the row to return next */
	size_t renamed;			  /* the renamed column, if any */
	MT_ARRAY(uint64_t) names;	  /* new keys of that column, by row; or empty */
	uint64_t shown[MT_GROUPS_COLUMNS];
	bool has_cluster; /* `cluster` is set for the next add */
	uint64_t cluster;
	struct mt_map64 clusters; /* from a row's cluster to the number of its adds */
};

static const uint64_t *shown_keys(struct mt_sum_table *groups, uint32_t row)
{
	size_t size;
	const uint64_t *keys = mt_byte_runs_get(groups->keys, row, &size);

	if (!groups->names.count)
		return keys;
	memcpy(groups->shown, keys, size);
	groups->shown[groups->renamed] = groups->names.items[row];
	return groups->shown;
}

static struct mt_error *groups_rewind(struct mt_table *table)
{
	((struct mt_sum_table *)table)->at = 0;
	return NULL;
}

static struct mt_error *groups_next(struct mt_table *table, struct mt_row *out, bool *more)
{
	struct mt_sum_table *groups = (struct mt_sum_table *)table;
	uint32_t row;

	*more = groups->at < mt_byte_runs_count(groups->keys);
	if (!*more)
		return NULL;
	row = groups->order.count ? groups->order.items[groups->at] : groups->at;
	out->keys = shown_keys(groups, row);
	out->values = groups->values.items + row * table->value_count;
	out->addresses = NULL;
	out->sources = NULL;
	out->detail = NULL;
	groups->at++;
	return NULL;
}

static void groups_table_destroy(struct mt_table *table)
{
	mt_sum_table_destroy((struct mt_sum_table *)table);
}

static const struct mt_table_ops groups_ops = {
	.rewind = groups_rewind,
	.next = groups_next,
	.destroy = groups_table_destroy,
};

struct mt_sum_table *mt_sum_table_create(const struct mt_table *shape)
{
	struct mt_sum_table *groups = mt_alloc(1, sizeof(*groups));

	assert(shape->key_count <= MT_GROUPS_COLUMNS && shape->value_count <= MT_GROUPS_COLUMNS);
	if (shape->key_count)
		memcpy(groups->columns, shape->keys, shape->key_count * sizeof(*shape->keys));
	if (shape->value_count)
		memcpy(groups->value_columns, shape->values,
		       shape->value_count * sizeof(*shape->values));
	groups->table = *shape;
	groups->table.ops = &groups_ops;
	groups->table.keys = groups->columns;
	groups->table.values = groups->value_columns;
	groups->table.listing = false;
	groups->keys = mt_byte_runs_create();
	return groups;
}

struct mt_sum_table *mt_sum_table_plain(const char *name, struct mt_strings *strings,
					const struct mt_key_column *keys, size_t key_count,
					const struct mt_value_column *values, size_t value_count)
{
	return mt_sum_table_create(&(struct mt_table){
		.name = name,
		.strings = strings,
		.keys = keys,
		.key_count = key_count,
		.values = values,
		.value_count = value_count,
	});
}

void mt_sum_table_destroy(struct mt_sum_table *groups)
{
	if (!groups)
		return;
	mt_byte_runs_destroy(groups->keys);
	mt_array_deinit(&groups->values);
	mt_array_deinit(&groups->order);
	mt_array_deinit(&groups->names);
	mt_map64_deinit(&groups->clusters);
	free(groups);
}

void mt_sum_table_most(struct mt_sum_table *groups, size_t value)
{
	groups->table.most |= 1u << value;
}

void mt_sum_table_cluster(struct mt_sum_table *groups, uint64_t cluster)
{
	groups->has_cluster = true;
	groups->cluster = cluster;
}

/* Converts values to what they add to a row that may already have values of this cluster. */
static void count_cluster(struct mt_sum_table *groups, uint32_t row, const struct mt_value *values,
			  struct mt_value *out)
{
	/* Addresses have 48 bits; a collision only widens an interval. */
	uint64_t key = groups->cluster ^ row * 0x9e3779b97f4a7c15, before = 0;

	groups->has_cluster = false;
	mt_map64_get(&groups->clusters, key, &before);
	for (size_t i = 0; i < groups->table.value_count; i++)
		out[i] = before && values[i].unseen > 0
				 ? mt_value_again(&values[i], (uint32_t)before)
				 : values[i];
	mt_map64_put(&groups->clusters, key, before + 1);
}

void mt_sum_table_add(struct mt_sum_table *groups, const uint64_t *keys,
		      const struct mt_value *values)
{
	size_t n = groups->table.value_count;
	struct mt_value clustered[MT_GROUPS_COLUMNS];
	uint32_t row =
		mt_byte_runs_intern(groups->keys, keys, groups->table.key_count * sizeof(*keys));

	groups->order.count = 0;
	if (n)
		mt_array_at(&groups->values, (row + 1) * n - 1);
	if (groups->has_cluster) {
		count_cluster(groups, row, values, clustered);
		values = clustered;
	}
	mt_table_add_values(&groups->table, groups->values.items + row * n, values);
}

void mt_sum_table_widen(struct mt_sum_table *groups,
			void (*widen)(void *context, const uint64_t *keys, struct mt_value *values),
			void *context)
{
	size_t size;

	for (uint32_t row = 0; row < mt_byte_runs_count(groups->keys); row++)
		widen(context, mt_byte_runs_get(groups->keys, row, &size),
		      groups->values.items + row * groups->table.value_count);
	groups->table.same_doubt = UINT32_MAX;
}

void mt_sum_table_rename(struct mt_sum_table *groups, size_t column,
			 uint64_t (*rename)(void *context, const uint64_t *keys), void *context)
{
	size_t size;

	groups->renamed = column;
	for (uint32_t row = 0; row < mt_byte_runs_count(groups->keys); row++) {
		*mt_array_push(&groups->names) =
			rename(context, mt_byte_runs_get(groups->keys, row, &size));
	}
}

/* Sorts `order` by a number for each row, stably. */
static void sort_order(struct mt_sum_table *groups,
		       uint64_t (*number_of)(const struct mt_sum_table *groups, uint32_t row,
					     size_t column),
		       size_t column)
{
	uint32_t *rows = groups->order.items;
	size_t count = groups->order.count;
	MT_CLEANUP_FREE struct mt_addressed *numbers = mt_alloc(count + 1, sizeof(*numbers));

	for (size_t i = 0; i < count; i++)
		numbers[i] = (struct mt_addressed){number_of(groups, rows[i], column), rows[i]};
	if (!mt_address_sort(numbers, count))
		mt_memory_failed();
	for (size_t i = 0; i < count; i++)
		rows[i] = numbers[i].index;
}

static uint64_t key_of(const struct mt_sum_table *groups, uint32_t row, size_t column)
{
	size_t size;
	const uint64_t *keys = mt_byte_runs_get(groups->keys, row, &size);

	return keys[column];
}

/* A number that falls as the absolute value rises; bits of doubles sort like absolute values. */
static uint64_t smallness_of(const struct mt_sum_table *groups, uint32_t row, size_t column)
{
	double size = fabs(groups->values.items[row * groups->table.value_count + column].value);
	uint64_t bits;

	memcpy(&bits, &size, sizeof(bits));
	return ~bits;
}

/* Sets `order` to the order of insertion. */
static void begin_order(struct mt_sum_table *groups)
{
	size_t count = mt_byte_runs_count(groups->keys);

	mt_array_reserve(&groups->order, count);
	for (groups->order.count = 0; groups->order.count < count; groups->order.count++)
		groups->order.items[groups->order.count] = (uint32_t)groups->order.count;
}

void mt_sum_table_sort(struct mt_sum_table *groups, size_t value)
{
	size_t time = mt_table_key_of_kind(&groups->table, MT_KEY_TIME);
	size_t span = mt_table_key_of_kind(&groups->table, MT_KEY_SPAN);

	if (span == MT_COLUMN_NONE)
		span = mt_table_key_of_kind(&groups->table, MT_KEY_BUCKET);

	begin_order(groups);
	sort_order(groups, smallness_of, value);
	if (span != MT_COLUMN_NONE)
		sort_order(groups, key_of, span);
	if (time != MT_COLUMN_NONE)
		sort_order(groups, key_of, time);
}

void mt_sum_table_sort_key(struct mt_sum_table *groups, size_t column)
{
	begin_order(groups);
	sort_order(groups, key_of, column);
}

struct mt_table *mt_sum_table_table(struct mt_sum_table *groups)
{
	return &groups->table;
}
