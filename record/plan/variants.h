/*
 * Adds variants to a plan: the same event with a smaller dump or a longer period (throttle.h). Also
 * adds seeds: for an event with small dumps, the same event with large dumps at a much longer
 * period. Samples of seeds do not change counts. The report uses their stacks to complete stacks
 * that a small dump cut (unwind/join/join.h).
 */
#ifndef MT_RECORD_PLAN_VARIANTS_H
#define MT_RECORD_PLAN_VARIANTS_H

#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_plan;

/*
 * Selects the variants to add. Each variant costs an open file per CPU, and every child inherits
 * that file.
 */
enum mt_variants {
	MT_VARIANTS_SMALL,  /* small dumps for storm events, in case the spool fills up */
	MT_VARIANTS_STORMS, /* all levels for storm events: -F */
	MT_VARIANTS_ALL,    /* all levels for all events: --budget, --max-rate */
};

/* Adds the selected variants to the plan. */
struct mt_error *mt_plan_add_variants(struct mt_plan *plan, enum mt_variants which);

/*
 * Applies a limit to events that have no variants, with a note for each. An event that is sampled
 * by time gets a frequency that keeps `cpus` CPUs within max_rate (0: none); other events do not
 * change.
 */
struct mt_error *mt_plan_limit_others(struct mt_plan *plan, uint64_t max_rate, size_t cpus);

/* Returns the index of the variant of that level, or `full` if there is none. */
uint32_t mt_plan_variant(const struct mt_plan *plan, uint32_t full, int level);

/*
 * Adds the seeds after all other events, so that the sample of a seed precedes the event's own
 * sample of the same fault.
 */
struct mt_error *mt_plan_add_seeds(struct mt_plan *plan);

#endif
