/*
 * How pieces of an account come and go, for its own files alone: account.c and effects.c. All give
 * false out of memory.
 */
#ifndef MT_REPORT_ACCOUNT_ACCOUNT_PARTS_H
#define MT_REPORT_ACCOUNT_ACCOUNT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/account/account.h"
#include "report/account/nature.h"

/* Tells the sink of a change. */
bool mt_account_emit(struct mt_account *account, const struct mt_change *change);

/* Takes the range out and tells nobody: its pieces stand in account->scratch. */
bool mt_account_take(struct mt_account *account, uint64_t start, uint64_t end);

/* Takes the range out as `origin`'s doing. */
bool mt_account_remove(struct mt_account *account, uint64_t start, uint64_t end, uint64_t time,
		       uint32_t origin);

/* Puts a region where nothing is, as its origin's doing. */
bool mt_account_put(struct mt_account *account, const struct mt_extent *region);

/* The same where the range is not empty. */
bool mt_account_add(struct mt_account *account, uint64_t start, uint64_t end,
		    const struct mt_nature *nature, uint64_t time, uint32_t origin);

#endif
