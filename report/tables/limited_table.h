/* A table with only the first (--top) and the largest (--percent-limit) rows of another table. */
#ifndef MT_REPORT_TABLES_LIMITED_TABLE_H
#define MT_REPORT_TABLES_LIMITED_TABLE_H

#include <stddef.h>

#include "report/tables/table.h"

struct mt_error;

/* All-zero limits nothing. */
struct mt_row_limit {
	size_t top;	/* rows; 0: all */
	double percent; /* of the sum of all rows' absolute values: smaller rows are left out */
};

struct mt_limited_table {
	struct mt_table table; /* the result, for as long as this struct and `from` live */
	struct mt_table *from;
	size_t weight;
	size_t top, given; /* rows */
	double least;	   /* absolute value */
};

/* Borrows `from`, and reads it once if a percentage is set. `weight` is the value column. */
struct mt_error *mt_limited_table_init(struct mt_limited_table *limited, struct mt_table *from,
				       size_t weight, const struct mt_row_limit *limit);

#endif
