/*
 * Carries out what throttle.h decides: asks, every tick, what recording cost, switches events
 * between their twins, and says so.
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
	/* told of each switch */
	void (*say)(void *voice, const char *text);
};

/*
 * Borrows all that config names. Events begin at the level that the limits call for. NULL out of
 * memory.
 */
struct mt_governor *mt_governor_create(const struct mt_governor_config *config);
void mt_governor_destroy(struct mt_governor *governor);

/* Looks and switches; call it some ten times a second. now_ns on any clock. */
void mt_governor_tick(struct mt_governor *governor, uint64_t now_ns);

/*
 * What a sample of each thinning twin stood for in the end: the kernel's count over the samples
 * that came. Puts WEIGHT records into state, for the whole recording.
 */
void mt_governor_settle(const struct mt_governor *governor, struct mt_state *state);

/* Whether any event was ever thinned: counts are then estimates. */
bool mt_governor_thinned(const struct mt_governor *governor);

#endif
