/*
 * Seeds: beside an event with small dumps the same one with large dumps, much rarer. Its samples
 * stand for nothing of their own; they show a joiner (unwind/join/join.h) what lies beyond the
 * small dumps' ends.
 */
#ifndef MT_RECORD_PLAN_SEEDS_H
#define MT_RECORD_PLAN_SEEDS_H

struct mt_error;
struct mt_plan;

/* Adds them, behind all other events: of two that record the same fault the seed comes first. */
struct mt_error *mt_plan_add_seeds(struct mt_plan *plan);

#endif
