/*
 * Seeds: for an event with small dumps, the same event with large dumps at a much longer period.
 * Their samples do not change counts. The report uses their stacks to complete stacks that a small
 * dump cut (unwind/join/join.h).
 */
#ifndef MT_RECORD_PLAN_SEEDS_H
#define MT_RECORD_PLAN_SEEDS_H

struct mt_error;
struct mt_plan;

/*
 * Adds the seeds after all other events, so that the sample of a seed precedes the event's own
 * sample of the same fault.
 */
struct mt_error *mt_plan_add_seeds(struct mt_plan *plan);

#endif
