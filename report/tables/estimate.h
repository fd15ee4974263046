/*
 * Estimates: figures of which a sample was recorded, with intervals that contain the true value 19
 * times in 20. An address is always sampled or never, so all blocks seen at one address are chosen
 * together (a cluster).
 */
#ifndef MT_REPORT_TABLES_ESTIMATE_H
#define MT_REPORT_TABLES_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/tables/table.h"

/* The estimate from one cluster whose sum is `seen`, if 1 in `one_in` clusters was sampled. */
struct mt_value mt_value_sampled(double seen, uint32_t one_in);

/* What to add for another value of a cluster, if the same value was added `before` times. */
struct mt_value mt_value_again(const struct mt_value *value, uint32_t before);

/* The value times a positive factor. */
struct mt_value mt_value_scaled(const struct mt_value *value, double factor);

/*
 * Raises the upper bound of `value` if it is 0, for clusters that may have been missed. Their size
 * is taken from `other`, the other side of a comparison.
 */
void mt_value_none_seen(const struct mt_value *other, struct mt_value *value);

/*
 * now - base. Its interval is that of a difference of independent estimates; doubts from other
 * causes add up.
 */
struct mt_value mt_value_change(const struct mt_value *base, const struct mt_value *now);

/*
 * Adds to a sum. Its interval is that of a sum of independent estimates. Doubts from other causes
 * add up; with same_doubt, only the wider one is used.
 */
void mt_value_add(struct mt_value *sum, const struct mt_value *value, bool same_doubt);

#endif
