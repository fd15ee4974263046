/*
 * --branch-lines: --branches as lines for people and grep: the totals, then a line for each pair
 * and each range.
 */
#include <inttypes.h>
#include <string.h>

#include "formats/base/err.h"
#include "report/outputs/outputs.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

/* Where the table has what. */
struct shape {
	const struct mt_table *table;
	size_t what, from, to, image, symbols, mispredicted, cycles;
};

static bool find_shape(const struct mt_table *table, struct shape *out)
{
	*out = (struct shape){
		.table = table,
		.what = mt_table_key(table, "what"),
		.from = mt_table_key(table, "from"),
		.to = mt_table_key(table, "to"),
		.image = mt_table_key(table, "image"),
		.symbols = mt_table_key(table, "symbols"),
		.mispredicted = mt_table_value(table, "mispredicted"),
		.cycles = mt_table_value(table, "cycles"),
	};
	return out->what != MT_COLUMN_NONE && out->from != MT_COLUMN_NONE &&
	       out->to != MT_COLUMN_NONE && out->image != MT_COLUMN_NONE &&
	       out->symbols != MT_COLUMN_NONE && out->mispredicted != MT_COLUMN_NONE &&
	       out->cycles != MT_COLUMN_NONE;
}

static bool is_what(const struct shape *shape, const struct mt_row *row, const char *what)
{
	return !strcmp(mt_table_string(shape->table, row, shape->what), what);
}

/* Processors before Skylake count none. */
static void print_cycles(const struct shape *shape, const struct mt_row *row, FILE *to)
{
	double cycles = row->values[shape->cycles].value;

	if (cycles > 0)
		fprintf(to, ", %.0f cycles", cycles);
}

/* "12 branches, 1 mispredicted, 3 samples, 1 empty": the rows of totals come in this order. */
static bool print_total(const struct shape *shape, const struct mt_row *row, FILE *to)
{
	double count = row->values[0].value;

	if (is_what(shape, row, "branches")) {
		fprintf(to, "%.0f branches, %.0f mispredicted", count,
			row->values[shape->mispredicted].value);
		print_cycles(shape, row, to);
	} else if (is_what(shape, row, "samples")) {
		fprintf(to, ", %.0f samples", count);
	} else if (is_what(shape, row, "empty")) {
		fprintf(to, ", %.0f empty\n", count);
	} else {
		return false;
	}
	return true;
}

static void print_pair(const struct shape *shape, const struct mt_row *row, FILE *to)
{
	uint64_t first = row->keys[shape->from], last = row->keys[shape->to];

	if (is_what(shape, row, "range"))
		fprintf(to, "%.0f range %" PRIx64 "-%" PRIx64 " ", row->values[0].value, first,
			last);
	else
		fprintf(to, "%.0f %.0f branch %" PRIx64 " -> %" PRIx64 " ", row->values[0].value,
			row->values[shape->mispredicted].value, first, last);
	mt_text_print_clean(mt_table_string(shape->table, row, shape->image), to);
	fputc(' ', to);
	mt_text_print_clean(mt_table_string(shape->table, row, shape->symbols), to);
	print_cycles(shape, row, to);
	fputc('\n', to);
}

static struct mt_error *write_lines(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	struct mt_error *err;
	struct shape shape;
	struct mt_row row;
	bool more;

	(void)view;
	if (!find_shape(table, &shape))
		return mt_error_create(MT_ERR_USAGE,
				       "--branch-lines shows --branches, and this is --%s",
				       table->name);
	for (err = mt_table_rewind(table); !err;) {
		err = mt_table_next(table, &row, &more);
		if (err || !more)
			return err;
		if (!print_total(&shape, &row, to))
			print_pair(&shape, &row, to);
	}
	return err;
}

const struct mt_output mt_output_branch_lines = {
	.name = "branch-lines",
	.help = "--branches as lines: totals, pairs, ranges",
	.rare = true,
	.write = write_lines,
};
