/*
 * The table of outputs, and the check of their needs.
 */
#include "report/outputs/outputs.h"

#include <string.h>

#include "formats/base/err.h"
#include "report/tables/table.h"

const struct mt_output *const mt_outputs[] = {
	&mt_output_summary,   &mt_output_flamegraph, &mt_output_html,	      &mt_output_folded,
	&mt_output_script,    &mt_output_info,	     &mt_output_table,	      &mt_output_paths,
	&mt_output_csv,	      &mt_output_json,	     &mt_output_summary_json, &mt_output_pprof,
	&mt_output_callgrind, &mt_output_sql,	     &mt_output_annotate,     NULL,
};

const struct mt_output *mt_output_find(const char *name)
{
	for (size_t i = 0; mt_outputs[i]; i++) {
		if (!strcmp(mt_outputs[i]->name, name))
			return mt_outputs[i];
	}
	return NULL;
}

struct mt_error *mt_output_write(const struct mt_output *output, const struct mt_view *view,
				 struct mt_table *table, FILE *to)
{
	/* Tables with a given order have facts: few have a stack, and they do not add up. */
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
