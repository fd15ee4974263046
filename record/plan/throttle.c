/*
 * Decides the level of an event. Steps down immediately and as far as needed; steps up one level at
 * a time after several calm steps. The cost in the target is the kernel's measured part per sample:
 * about 1 us, and 0.3 us for each KiB of copied stack.
 */
#include "record/plan/throttle.h"

#define FILL_CALM 25 /* percent of the spool: up to it, events may step up again */
#define CALM_STEPS 5
#define HEADROOM 0.7 /* of a limit, under which a denser level must stay */

const struct mt_level mt_levels[MT_LEVELS] = {
	[MT_LEVEL_FULL] = {.thinning = 1},    [MT_LEVEL_SMALL] = {.thinning = 1, .dump_max = 2048},
	[MT_LEVEL_16] = {.thinning = 16},     [MT_LEVEL_256] = {.thinning = 256},
	[MT_LEVEL_4096] = {.thinning = 4096},
};

/* Returns the next existing level towards sparse (+1) or dense (-1); `level` if there is none. */
static int next_level(const struct mt_throttle_input *in, int level, int direction)
{
	int next = level + direction;

	if (next == MT_LEVEL_SMALL && !in->small_dumps)
		next += direction;
	if (next < 0 || next >= MT_LEVELS || (mt_levels[next].thinning > 1 && !in->thins))
		return level;
	return next;
}

/* Returns the CPU seconds per second that recording would cost if the event were at `level`. */
static double expected_cost(const struct mt_throttle_input *in, int present, int level)
{
	double kib = in->dump_size < 8192 ? in->dump_size / 1024.0 : 8;
	double share = in->all_samples ? (double)in->samples / (double)in->all_samples : 0;
	double kernel = (double)in->samples * (1.0 + 0.3 * kib) * 1e-6;
	double scaled = share * in->recorder_cpu + kernel;
	double others = (1 - share) * in->recorder_cpu;

	scaled *= (double)mt_levels[present].thinning / (double)mt_levels[level].thinning;
	return (scaled + others) / in->seconds;
}

static double expected_rate(const struct mt_throttle_input *in, int present, int level)
{
	return (double)in->samples * (double)mt_levels[present].thinning /
	       (double)mt_levels[level].thinning / in->seconds;
}

/* Returns true if a level would stay below `part` of every limit. */
static bool fits(const struct mt_throttle_limits *limits, const struct mt_throttle_input *in,
		 int present, int level, double part)
{
	if (limits->budget > 0 && expected_cost(in, present, level) > part * limits->budget)
		return false;
	return limits->max_rate <= 0 ||
	       expected_rate(in, present, level) <= part * limits->max_rate;
}

int mt_throttle_start(const struct mt_throttle_limits *limits)
{
	/* start thin to keep a limit from the beginning; events soon step up if there is room */
	return limits->budget > 0 || limits->max_rate > 0 ? MT_LEVEL_256 : MT_LEVEL_FULL;
}

/* Returns the next level that lowers the rate of samples; a smaller dump does not. */
static int next_thinner(const struct mt_throttle_input *in, int level)
{
	int next = next_level(in, level, 1);

	return next == MT_LEVEL_SMALL ? next_level(in, next, 1) : next;
}

static int sparser(const struct mt_throttle_limits *limits, const struct mt_throttle_input *in,
		   int present)
{
	int level = present;

	if (in->spool_fill >= MT_FILL_PRESSED)
		level = next_level(in, level, 1);
	while (!fits(limits, in, present, level, 1) && next_thinner(in, level) != level)
		level = next_thinner(in, level);
	return level;
}

bool mt_throttle_step(const struct mt_throttle_limits *limits,
		      const struct mt_throttle_input *input, struct mt_throttle *throttle)
{
	int present = throttle->level, denser = next_level(input, present, -1);

	if (input->seconds <= 0)
		return false;
	throttle->level = sparser(limits, input, present);
	if (throttle->level != present) {
		throttle->calm = 0;
		return true;
	}
	if (denser == present || input->spool_fill > FILL_CALM ||
	    !fits(limits, input, present, denser, HEADROOM)) {
		throttle->calm = 0;
		return false;
	}
	if (++throttle->calm < CALM_STEPS)
		return false;
	throttle->level = denser;
	throttle->calm = 0;
	return true;
}
