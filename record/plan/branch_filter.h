/* Parses -j: the branches that the hardware records. */
#ifndef MT_RECORD_PLAN_BRANCH_FILTER_H
#define MT_RECORD_PLAN_BRANCH_FILTER_H

#include <stdint.h>

struct mt_error;

/*
 * Adds the PERF_SAMPLE_BRANCH_* bits of "any_call,u" to *type; the words are perf's. Levels alone
 * (u, k, hv) mean any branch at the levels that the event counts.
 */
struct mt_error *mt_parse_branches(const char *text, uint64_t *type);

#endif
