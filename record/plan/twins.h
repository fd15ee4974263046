/*
 * The twins of a plan's events: the same event with a smaller dump, or a longer period, opened
 * beforehand.
 */
#ifndef MT_RECORD_PLAN_TWINS_H
#define MT_RECORD_PLAN_TWINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_plan;

/*
 * Adds the twins. Where there is an explicit limit: those of all levels, of the rare events too.
 * Else only those with small dumps, of the storms, against a spool that fills up: each is a file a
 * CPU, and one more event that every child inherits.
 */
struct mt_error *mt_plan_add_twins(struct mt_plan *plan, bool limited);

/*
 * What becomes of a limit where an event has no twins, with a note: what is sampled by time gets a
 * frequency that keeps so many CPUs within max_rate (0: none), and all else stays as it is.
 */
struct mt_error *mt_plan_limit_others(struct mt_plan *plan, uint64_t max_rate, size_t cpus);

/* The twin of that level, or the event itself where it has none. */
uint32_t mt_plan_twin(const struct mt_plan *plan, uint32_t full, int level);

#endif
