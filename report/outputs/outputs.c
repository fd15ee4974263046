/*
 * The table of outputs, and the check of their needs.
 */
#include "report/outputs/outputs.h"

#include <string.h>

#include "formats/base/err.h"
#include "report/tables/table.h"

struct mt_error *mt_output_write(const struct mt_output *output, const struct mt_view *view,
				 struct mt_table *table, FILE *to)
{
	/* Rows of tables with a given order are facts, which do not add up. */
	if ((output->needs & MT_NEEDS_STACK) &&
	    (table->ordered || mt_table_key_of_kind(table, MT_KEY_STACK) == MT_COLUMN_NONE))
		return mt_error_create(MT_ERR_USAGE,
				       "--%s adds up stacks, and --%s has none to add up",
				       output->name, table->name);
	if ((output->needs & MT_NEEDS_LISTING) && !table->listing)
		return mt_error_create(MT_ERR_USAGE,
				       "--%s shows single events, and --%s makes sums",
				       output->name, table->name);
	return output->write(view, table, to);
}

struct mt_table *mt_view_alongside(const struct mt_view *view, const char *name)
{
	for (size_t i = 0; i < view->alongside_count; i++) {
		if (!strcmp(view->alongside[i].name, name))
			return view->alongside[i].table;
	}
	return NULL;
}
