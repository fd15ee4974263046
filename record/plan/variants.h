/* Adds twins to a plan: the same event with a smaller dump or a longer period (throttle.h). */
#ifndef MT_RECORD_PLAN_VARIANTS_H
#define MT_RECORD_PLAN_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_plan;

/* Which twins to add: each costs a file per CPU, and every child inherits it. */
enum mt_variants {
	MT_VARIANTS_SMALL,  /* small dumps for storm events, in case the spool fills up */
	MT_VARIANTS_STORMS, /* all levels for storm events: -F */
	MT_VARIANTS_ALL,    /* all levels for storm and rare events: --budget, --max-rate */
};

/* Adds the twins. */
struct mt_error *mt_plan_add_variants(struct mt_plan *plan, enum mt_variants which);

/*
 * Applies a limit to events that have no twins, with a note for each: an event sampled by time gets
 * a frequency that keeps that many CPUs within max_rate (0: none); others stay as they are.
 */
struct mt_error *mt_plan_limit_others(struct mt_plan *plan, uint64_t max_rate, size_t cpus);

/* Index of the twin of that level; `full` if there is none. */
uint32_t mt_plan_variant(const struct mt_plan *plan, uint32_t full, int level);

#endif
