/*
 * Finds rows, columns and cells of tables; the analyses make the tables.
 */
#include "report/tables/table.h"

#include <string.h>

#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/tables/estimate.h"

void mt_table_destroy(struct mt_table *table)
{
	if (table)
		table->ops->destroy(table);
}

struct mt_error *mt_table_is_empty(struct mt_table *table, bool *empty)
{
	struct mt_error *err = mt_table_rewind(table);
	struct mt_row row;

	*empty = !mt_table_read(table, &row, &err);
	return err ? err : mt_table_rewind(table);
}

size_t mt_table_key(const struct mt_table *table, const char *name)
{
	for (size_t i = 0; i < table->key_count; i++) {
		if (!strcmp(table->keys[i].name, name))
			return i;
	}
	return MT_COLUMN_NONE;
}

size_t mt_table_key_of_kind(const struct mt_table *table, enum mt_key_kind kind)
{
	for (size_t i = 0; i < table->key_count; i++) {
		if (table->keys[i].kind == kind)
			return i;
	}
	return MT_COLUMN_NONE;
}

size_t mt_table_value(const struct mt_table *table, const char *name)
{
	for (size_t i = 0; i < table->value_count; i++) {
		if (!strcmp(table->values[i].name, name))
			return i;
	}
	return MT_COLUMN_NONE;
}

struct mt_error *mt_table_weight(const struct mt_table *table, const char *name, size_t *out)
{
	size_t at = mt_table_value(table, name ? name : "bytes");
	char known[200] = "";

	if (at == MT_COLUMN_NONE && !name)
		at = 0;
	if (at != MT_COLUMN_NONE) {
		*out = at;
		return NULL;
	}
	for (size_t i = 0; i < table->value_count; i++) {
		strncat(known, i ? ", " : "", sizeof(known) - strlen(known) - 1);
		strncat(known, table->values[i].name, sizeof(known) - strlen(known) - 1);
	}
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--weight %s: --%s has no such figure",
					     name, table->name),
			     "known: %s", known);
}

const char *mt_table_string(const struct mt_table *table, const struct mt_row *row, size_t column)
{
	return column == MT_COLUMN_NONE
		       ? ""
		       : mt_strings_get(table->strings, (uint32_t)row->keys[column]);
}

const char *mt_table_text(const struct mt_table *table, const struct mt_row *row, const char *name)
{
	return mt_table_string(table, row, mt_table_key(table, name));
}

double mt_table_figure(const struct mt_table *table, const struct mt_row *row, const char *name)
{
	size_t column = mt_table_value(table, name);

	return column == MT_COLUMN_NONE ? 0 : row->values[column].value;
}

void mt_table_add_values(const struct mt_table *table, struct mt_value *sums,
			 const struct mt_value *values)
{
	for (size_t i = 0; i < table->value_count; i++) {
		if (table->most >> i & 1)
			sums[i] = sums[i].value > values[i].value ? sums[i] : values[i];
		else
			mt_value_add(&sums[i], &values[i], table->same_doubt >> i & 1);
	}
}
