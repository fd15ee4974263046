/*
 * Time spans in which records were lost.
 */
#ifndef MT_REPORT_LEDGER_LOSSES_H
#define MT_REPORT_LEDGER_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_loss_span {
	uint64_t from, to;
	uint64_t latest; /* largest `to` of this span and those before it */
};

struct mt_losses {
	MT_ARRAY(struct mt_loss_span) spans;
	bool sorted;
};

/* Adds a span in any order. */
void mt_losses_add(struct mt_losses *losses, uint64_t from, uint64_t to);
void mt_losses_deinit(struct mt_losses *losses);

/* Sorts the spans. Returns true if a span overlaps the time between from and to. */
bool mt_losses_between(struct mt_losses *losses, uint64_t from, uint64_t to);

#endif
