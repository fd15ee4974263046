/*
 * How much to record: decides, from what the last moments cost, which of its twins each event is
 * recorded by. Pure: numbers in, levels out; others open the twins and switch.
 *
 * An event's twins are opened beforehand, since a period and a dump size are fixed at open. One of
 * them is enabled at a time. A sample of a thinning twin stands for `thinning` events, so that
 * totals stay unbiased estimates.
 */
#ifndef MT_RECORD_PLAN_THROTTLE_H
#define MT_RECORD_PLAN_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	MT_LEVEL_FULL,
	MT_LEVEL_SMALL, /* a small dump: only against a spool that fills up */
	MT_LEVEL_16,
	MT_LEVEL_256,
	MT_LEVEL_4096,
	MT_LEVELS
};

/* One level: how many events a sample stands for, and the most dump it takes (0: as asked for). */
struct mt_level {
	uint32_t thinning;
	uint32_t dump_max;
};

extern const struct mt_level mt_levels[MT_LEVELS];

struct mt_throttle_limits {
	double budget;	 /* of one CPU, target and recorder together; 0: none */
	double max_rate; /* samples a second and event; 0: none */
};

/* What happened since the last step. */
struct mt_throttle_input {
	double seconds;
	double recorder_cpu;  /* seconds of CPU of the recorder's own */
	unsigned spool_fill;  /* percent, now */
	uint64_t samples;     /* of this event, at its present level */
	uint64_t all_samples; /* of all events */
	bool small_dumps;     /* there is a twin of MT_LEVEL_SMALL */
	bool thins;	      /* there are those of the thinning levels */
	uint32_t dump_size;   /* what the event asks for at MT_LEVEL_FULL */
};

/* An event's state. */
struct mt_throttle {
	int level;
	unsigned calm; /* steps in a row that had room for the next denser level */
};

/* The level to begin with. */
int mt_throttle_start(const struct mt_throttle_limits *limits);

/* Steps the event's state; true where its level changed. */
bool mt_throttle_step(const struct mt_throttle_limits *limits,
		      const struct mt_throttle_input *input, struct mt_throttle *throttle);

#endif
