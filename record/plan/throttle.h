/*
 * Throttling: decides, from the cost of the last step, which variant records each event. Pure:
 * numbers in, levels out; governor.h measures and switches.
 *
 * Variants are opened beforehand, because period and dump size are fixed at open. One variant of an
 * event is enabled at a time. A sample of a thinning variant represents `thinning` events, so
 * totals stay unbiased estimates.
 */
#ifndef MT_RECORD_PLAN_THROTTLE_H
#define MT_RECORD_PLAN_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	MT_LEVEL_FULL,
	MT_LEVEL_SMALL, /* small dumps; used only while the spool fills up */
	MT_LEVEL_16,
	MT_LEVEL_256,
	MT_LEVEL_4096,
	MT_LEVELS
};

enum {
	MT_FILL_PRESSED = 75, /* percent of the spool: above it, events step down */
};

/* A level: events per sample, and the maximum dump in bytes (0: as requested). */
struct mt_level {
	uint32_t thinning;
	uint32_t dump_max;
};

extern const struct mt_level mt_levels[MT_LEVELS];

struct mt_throttle_limits {
	double budget;	 /* share of one CPU, target and recorder together; 0: none */
	double max_rate; /* samples per second and event; 0: none */
};

/* Measurements since the last step. */
struct mt_throttle_input {
	double seconds;
	double recorder_cpu;  /* CPU time of the recorder, seconds */
	unsigned spool_fill;  /* percent, at present */
	uint64_t samples;     /* samples of this event at its current level */
	uint64_t all_samples; /* samples of all events */
	bool small_dumps;     /* a variant of MT_LEVEL_SMALL exists */
	bool thins;	      /* variants of the thinning levels exist */
	uint32_t dump_size;   /* bytes at MT_LEVEL_FULL */
};

/* An event's state. */
struct mt_throttle {
	int level;
	unsigned calm; /* consecutive steps with room for the next denser level */
};

/* Returns the level to start at. */
int mt_throttle_start(const struct mt_throttle_limits *limits);

/* Advances an event by one step. Returns true if its level changed. */
bool mt_throttle_step(const struct mt_throttle_limits *limits,
		      const struct mt_throttle_input *input, struct mt_throttle *throttle);

#endif
