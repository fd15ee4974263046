/* Private parts of an account, shared by account.c and effects.c. */
#ifndef MT_REPORT_ACCOUNT_ACCOUNT_PARTS_H
#define MT_REPORT_ACCOUNT_ACCOUNT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/account/account.h"
#include "report/account/region_attrs.h"

/* Passes a change to the sink. */
void mt_account_emit(struct mt_account *account, const struct mt_change *change);

/* Removes a range without calling the sink; the removed regions are then in account->scratch. */
void mt_account_take(struct mt_account *account, uint64_t start, uint64_t end);

/* Removes a range; the changes have this origin. */
void mt_account_remove(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time,
		       uint32_t origin);

/* Adds a region to a free range; the change has the region's origin. */
void mt_account_put(struct mt_account *account, const struct mt_extent *region);

/* Adds a region, and clears doubts about the range. Does nothing for an empty range. */
void mt_account_add(struct mt_account *account, uint64_t start, uint64_t end,
		    const struct mt_region_attrs *attrs, uint64_t time, uint32_t origin);

#endif
