/*
 * Estimates: figures of which a sample was recorded, with intervals that hold the truth 19 times in
 * 20. An address is always sampled or never: all blocks seen at one address are chosen together (a
 * cluster).
 */
#ifndef MT_REPORT_TABLES_ESTIMATE_H
#define MT_REPORT_TABLES_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/tables/table.h"

/* Where 1 in `one_in` clusters was sampled, the estimate that a cluster of `seen` gives. */
struct mt_value mt_value_sampled(double seen, uint32_t one_in);

/* The same value of a cluster that was added `before` times. */
struct mt_value mt_value_again(const struct mt_value *value, uint32_t before);

/* The value times a positive factor. */
struct mt_value mt_value_scaled(const struct mt_value *value, double factor);

/*
 * Raises the upper bound of a value of 0, of which nothing was sampled, to what may have been
 * missed: clusters like those of the other side of a comparison.
 */
void mt_value_none_seen(const struct mt_value *other, struct mt_value *value);

/*
 * now - base. Its interval is that of a difference of independent estimates; other doubts add up.
 */
struct mt_value mt_value_change(const struct mt_value *base, const struct mt_value *now);

/*
 * Adds to a sum. Its interval is that of a sum of independent estimates; other doubts add up, or
 * with same_doubt the wider ones hold for both.
 */
void mt_value_add(struct mt_value *sum, const struct mt_value *value, bool same_doubt);

#endif
