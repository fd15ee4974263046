/*
 * Seeds: for an event with small dumps, the same event with large dumps at a much longer period.
 * Their samples add nothing to counts; with their stacks the report completes stacks that a small
 * dump cut (unwind/join/join.h).
 */
#ifndef MT_RECORD_PLAN_SEEDS_H
#define MT_RECORD_PLAN_SEEDS_H

struct mt_error;
struct mt_plan;

/* Adds the seeds after all other events: of one fault, the seed's sample then comes first. */
struct mt_error *mt_plan_add_seeds(struct mt_plan *plan);

#endif
