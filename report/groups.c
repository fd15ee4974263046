/*
 * Grouping by interned key tuples.
 */
#include "report/groups.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "report/sequences.h"

struct mt_groups {
	struct mt_table table; /* first: ops get a pointer to it */
	struct mt_sequences *keys;
	MT_ARRAY(struct mt_value) values; /* value_count for each row */
	uint32_t at;			  /* the row that next gives */
};

static struct mt_error *groups_rewind(struct mt_table *table)
{
	((struct mt_groups *)table)->at = 0;
	return NULL;
}

static struct mt_error *groups_next(struct mt_table *table, struct mt_row *out, bool *more)
{
	struct mt_groups *groups = (struct mt_groups *)table;
	size_t size;

	*more = groups->at < mt_sequences_count(groups->keys);
	if (!*more)
		return NULL;
	out->keys = mt_sequences_get(groups->keys, groups->at, &size);
	out->values = groups->values.items + groups->at * table->value_count;
	out->addresses = NULL;
	out->sources = NULL;
	groups->at++;
	return NULL;
}

static void groups_table_destroy(struct mt_table *table)
{
	mt_groups_destroy((struct mt_groups *)table);
}

static const struct mt_table_ops groups_ops = {
	.rewind = groups_rewind,
	.next = groups_next,
	.destroy = groups_table_destroy,
};

struct mt_groups *mt_groups_create(const struct mt_table *shape)
{
	struct mt_groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->table = *shape;
	groups->table.ops = &groups_ops;
	groups->table.listing = false;
	groups->keys = mt_sequences_create();
	if (!groups->keys) {
		free(groups);
		return NULL;
	}
	return groups;
}

void mt_groups_destroy(struct mt_groups *groups)
{
	if (!groups)
		return;
	mt_sequences_destroy(groups->keys);
	mt_array_deinit(&groups->values);
	free(groups);
}

bool mt_groups_add(struct mt_groups *groups, const uint64_t *keys, const struct mt_value *values)
{
	size_t n = groups->table.value_count;
	uint32_t row =
		mt_sequences_intern(groups->keys, keys, groups->table.key_count * sizeof(*keys));
	struct mt_value *sums;

	if (row == MT_SEQUENCE_NONE || !mt_array_reserve(&groups->values, (row + 1) * n))
		return false;
	while (groups->values.count < (row + 1) * n)
		groups->values.items[groups->values.count++] = mt_value_exact(0);
	sums = groups->values.items + row * n;
	for (size_t i = 0; i < n; i++) {
		sums[i].value += values[i].value;
		sums[i].low += values[i].low;
		sums[i].high += values[i].high;
	}
	return true;
}

size_t mt_groups_count(const struct mt_groups *groups)
{
	return mt_sequences_count(groups->keys);
}

struct mt_table *mt_groups_table(struct mt_groups *groups)
{
	return &groups->table;
}
