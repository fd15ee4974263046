/*
 * Applies the decisions of throttle.h: measures the cost of recording at every tick, switches
 * events between their variants, and reports each switch.
 */
#ifndef MT_RECORD_RINGS_GOVERNOR_H
#define MT_RECORD_RINGS_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/plan/throttle.h"

struct mt_drain;
struct mt_governor;
struct mt_event_set;
struct mt_plan;
struct mt_spool;
struct mt_state;

struct mt_governor_config {
	const struct mt_plan *plan;
	struct mt_event_set *opened;
	struct mt_spool *spool;
	struct mt_drain *const *drains;
	size_t drain_count;
	struct mt_throttle_limits limits;
	void *voice;
	/* Called for each switch, with a line for the user. */
	void (*say)(void *voice, const char *text);
};

/*
 * Borrows everything in config. Sets each event to the level that the limits begin with. NULL out
 * of memory.
 */
struct mt_governor *mt_governor_create(const struct mt_governor_config *config);
void mt_governor_destroy(struct mt_governor *governor);

/* Measures and switches; call it about ten times a second. now_ns: of any clock. */
void mt_governor_tick(struct mt_governor *governor, uint64_t now_ns);

/*
 * Puts WEIGHT records for the whole recording into state: how many events a sample of each thinning
 * variant represents, that is, the kernel's count divided by the number of samples.
 */
void mt_governor_settle(const struct mt_governor *governor, struct mt_state *state);

/* True if any event was ever thinned: counts are then estimates. */
bool mt_governor_thinned(const struct mt_governor *governor);

#endif
