/*
 * --paths: the heaviest paths, each with its values, its headline, and its innermost part. Tables
 * without stacks are shown as by --table.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/outputs/parts/name_advice.h"
#include "report/outputs/parts/top_paths.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

enum {
	PATHS_SHOWN = 10, /* unless --top is given */
	GAP = 2,
	ROOM = 60, /* minimum columns after the figures */
};

struct list {
	const struct mt_view *view;
	struct mt_top_paths top;
	size_t widths[MT_GROUPS_COLUMNS];
	size_t shown;
	struct mt_value rest[MT_GROUPS_COLUMNS], all[MT_GROUPS_COLUMNS];
	struct mt_name_advice advice;
	bool mixed; /* of different events, which do not add up */
	FILE *to;
};

static void list_deinit(struct list *list)
{
	mt_top_paths_deinit(&list->top);
}

/* The text of a value; without its bounds in a table with sentences, which leave no room. */
static const char *figure_of(const struct mt_table *table, const struct mt_value *value,
			     char figure[MT_FIGURE_ROOM])
{
	const struct mt_value exact = mt_value_exact(value->value);

	return mt_figure_text(table->sentence ? &exact : value, figure);
}

static void widen(struct list *list, const struct mt_value *values)
{
	char figure[MT_FIGURE_ROOM];

	for (size_t i = 0; i < list->top.table->value_count; i++) {
		size_t width = strlen(figure_of(list->top.table, &values[i], figure));

		list->widths[i] = width > list->widths[i] ? width : list->widths[i];
	}
}

/* Adds up the paths that are not shown, and all paths. */
static void add_up(struct list *list)
{
	for (size_t i = 0; i < list->top.items.count; i++) {
		const struct mt_value *values = list->top.items.items[i].values;

		mt_table_add_values(list->top.table, list->all, values);
		if (i < list->shown)
			widen(list, values);
		else if (!list->top.table->sentence)
			mt_table_add_values(list->top.table, list->rest, values);
	}
	if (list->top.table->sentence)
		return;
	widen(list, list->rest);
	widen(list, list->all);
}

/* Prints the values flush right, or their names if values is NULL. Returns the columns used. */
static size_t print_figures(const struct list *list, const struct mt_value *values)
{
	const struct mt_table *table = list->top.table;
	char figure[MT_FIGURE_ROOM];
	size_t used = 0;

	for (size_t i = 0; i < table->value_count; i++) {
		if (!mt_view_shows(list->view, i))
			continue;
		fprintf(list->to, "%*s%*s", (int)list->widths[i],
			values ? figure_of(table, &values[i], figure) : table->values[i].name, GAP,
			"");
		used += list->widths[i] + GAP;
	}
	return used;
}

static void print_heads(const struct list *list)
{
	const struct mt_table *table = list->top.table;
	bool first = true;

	print_figures(list, NULL);
	for (size_t i = 0; i < table->key_count; i++) {
		if (mt_cell_is_path(table, i) || (i && i == table->sentence))
			continue;
		fprintf(list->to, "%s%s", first ? "" : " ", table->keys[i].name);
		first = false;
	}
	fprintf(list->to, "%sfunction, and the end of the path\n", first ? "" : ": ");
}

static void print_sentence(const struct list *list, const struct mt_top_path *path, size_t indent,
			   size_t width)
{
	char spaces[ROOM];

	if (!path->sentence)
		return;
	snprintf(spaces, sizeof(spaces), "%*s", (int)(indent < ROOM - 1 ? indent : ROOM - 1), "");
	mt_text_print_wrapped(spaces, spaces,
			      mt_strings_get(list->top.table->strings, path->sentence), width,
			      list->to);
}

static void print_list(struct list *list)
{
	size_t left = list->top.items.count - list->shown;
	char rate[128];

	if (list->all[list->top.weight].unseen > 0 &&
	    mt_facts_blocks_rate(&list->view->facts->blocks, rate, sizeof(rate)))
		fprintf(list->to, "%s\n", rate);
	print_heads(list);
	for (size_t i = 0; i < list->shown; i++) {
		const struct mt_top_path *path = &list->top.items.items[i];
		size_t indent = print_figures(list, path->values);
		size_t width = list->view->width;

		width = width > indent + ROOM ? width : indent + ROOM;

		mt_top_path_print(&list->top, path, NULL, width - indent, list->to);
		mt_name_advice_see(&list->advice, list->top.table, path->stack,
				   path->values[list->top.weight].value);
		if (!path->words)
			mt_top_path_print_end(&list->top, path, indent, width, list->to);
		print_sentence(list, path, indent, width);
	}
	if (!list->top.items.count)
		return;
	if (left && !list->view->limit.top) {
		if (!list->top.table->sentence && !list->mixed)
			print_figures(list, list->rest);
		fprintf(list->to, "%zu more path%s; --top N shows more\n", left,
			left > 1 ? "s" : "");
	}
	if (!list->view->limit.top && !list->top.table->sentence && !list->mixed) {
		print_figures(list, list->all);
		fputs("in all\n", list->to);
	}
	mt_name_advice_print(&list->advice, "", "names", list->view->width, list->to);
}

/* Number of paths shown; they are in order of weight. */
static size_t shown_of(const struct list *list)
{
	const struct mt_row_limit *limit = &list->view->limit;
	size_t most = limit->top ? limit->top : limit->percent > 0 ? SIZE_MAX : PATHS_SHOWN;
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < list->top.items.count; i++)
		sum += fabs(list->top.items.items[i].values[list->top.weight].value);
	while (count < list->top.items.count && count < most &&
	       fabs(list->top.items.items[count].values[list->top.weight].value) >=
		       sum * limit->percent / 100)
		count++;
	return count;
}

static struct mt_error *write_paths(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(list_deinit) struct list list = {.view = view, .to = to};
	struct mt_error *err;

	if (table->listing || table->compared || table->value_count > MT_GROUPS_COLUMNS ||
	    mt_table_key_of_kind(table, MT_KEY_STACK) == MT_COLUMN_NONE)
		return mt_output_table.write(view, table, to);
	err = mt_has_several_events(table, &list.mixed);
	err = err ? err : mt_top_paths_read(table, view->value, &list.top);
	if (err)
		return err;
	list.shown = shown_of(&list);
	for (size_t i = 0; i < table->value_count; i++)
		list.widths[i] = strlen(table->values[i].name);
	add_up(&list);
	print_list(&list);
	return NULL;
}

const struct mt_output mt_output_paths = {
	.name = "paths",
	.help = "the heaviest paths: figures, headline, inner frames",
	.needs =
		MT_TAKES_KEYS | MT_TAKES_LISTING | MT_LIKES_STACK | MT_FOR_READERS | MT_LIMITS_ROWS,
	.write = write_paths,
};
