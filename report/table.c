/*
 * Looking things up in a table. Making one is the analyses' business.
 */
#include "report/table.h"

#include <string.h>

#include "formats/base/strings.h"

void mt_table_destroy(struct mt_table *table)
{
	if (table)
		table->ops->destroy(table);
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

const char *mt_table_string(const struct mt_table *table, const struct mt_row *row, size_t column)
{
	return column == MT_COLUMN_NONE
		       ? ""
		       : mt_strings_get(table->strings, (uint32_t)row->keys[column]);
}
