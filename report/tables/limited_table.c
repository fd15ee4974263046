/* Forwards to the other table and keeps its order: sums are ordered by weight, listings by time. */
#include "report/tables/limited_table.h"

#include <math.h>
#include <stdint.h>

static struct mt_error *limited_rewind(struct mt_table *table)
{
	struct mt_limited_table *limited = (struct mt_limited_table *)table;

	limited->given = 0;
	return mt_table_rewind(limited->from);
}

static struct mt_error *limited_next(struct mt_table *table, struct mt_row *out, bool *more)
{
	struct mt_limited_table *limited = (struct mt_limited_table *)table;
	struct mt_error *err = NULL;

	*more = limited->given < limited->top;
	while (!err && *more) {
		err = mt_table_next(limited->from, out, more);
		if (!err && *more &&
		    (!limited->least || fabs(out->values[limited->weight].value) >= limited->least))
			break;
	}
	limited->given += !err && *more;
	return err;
}

static void limited_destroy(struct mt_table *table)
{
	(void)table;
}

static const struct mt_table_ops ops = {limited_rewind, limited_next, limited_destroy};

static struct mt_error *sum_up(struct mt_table *table, size_t weight, double *sum)
{
	struct mt_error *err = mt_table_rewind(table);
	struct mt_row row;

	while (mt_table_read(table, &row, &err))
		*sum += fabs(row.values[weight].value);
	return err ? err : mt_table_rewind(table);
}

struct mt_error *mt_limited_table_init(struct mt_limited_table *limited, struct mt_table *from,
				       size_t weight, const struct mt_row_limit *limit)
{
	double sum = 0;
	struct mt_error *err = NULL;

	*limited = (struct mt_limited_table){
		.table = *from,
		.from = from,
		.weight = weight,
		.top = limit->top ? limit->top : SIZE_MAX,
	};
	limited->table.ops = &ops;
	if (limit->percent > 0 && from->value_count)
		err = sum_up(from, weight, &sum);
	limited->least = sum * limit->percent / 100;
	return err;
}
