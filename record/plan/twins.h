/* Adds twins to a plan: the same event with a smaller dump or a longer period (throttle.h). */
#ifndef MT_RECORD_PLAN_TWINS_H
#define MT_RECORD_PLAN_TWINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_plan;

/*
 * Adds the twins. limited (--budget or --max-rate is given): at all levels, for storm and rare
 * events. Otherwise only small dumps, for storm events, in case the spool fills up: each twin costs
 * a file per CPU, and every child inherits it.
 */
struct mt_error *mt_plan_add_twins(struct mt_plan *plan, bool limited);

/*
 * Applies a limit to events that have no twins, with a note for each: an event sampled by time gets
 * a frequency that keeps that many CPUs within max_rate (0: none); others stay as they are.
 */
struct mt_error *mt_plan_limit_others(struct mt_plan *plan, uint64_t max_rate, size_t cpus);

/* Index of the twin of that level; `full` if there is none. */
uint32_t mt_plan_twin(const struct mt_plan *plan, uint32_t full, int level);

#endif
