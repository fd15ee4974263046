/*
 * Estimates the part that was not sampled, by its mean (`unseen`) and two moments. A cluster of sum
 * y that was sampled with probability 1 / w contributes (w - 1) y, w (w - 1) y^2 and w^2 (w - 1)
 * y^3. These sums are additive, in whatever order rows are merged. The interval is computed from
 * them: it is that of a Poisson-distributed number of clusters of the weight skew / variance, with
 * the same variance. For equal clusters it is exact. For unequal clusters, the large ones decide,
 * of which few were seen.
 */
#include "report/tables/estimate.h"

#include <math.h>

/* 2.5 % of a normal distribution lie beyond this many standard deviations, on either side. */
#define DEVIATIONS 1.959964

/*
 * A filter by address is not random. The rate for addresses of one kind may be off by this share,
 * beyond what chance explains (docs/allocators.md).
 */
#define BIAS 0.05

/* The distances of a value from its bounds. */
struct doubt {
	double below, above;
};

/*
 * Quantile of a gamma distribution of scale 1, z deviations from its middle (Wilson and Hilferty).
 */
static double gamma_quantile(double shape, double z)
{
	double root = 1 - 1 / (9 * shape) + z / (3 * sqrt(shape));

	return root > 0 ? shape * root * root * root : 0;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* The bounds are rounded outwards to integers, so that sums of them are exact. */
static struct doubt sampling_doubt(const struct mt_value *value)
{
	double bias = BIAS * value->unseen, variance = value->variance + bias * bias;
	double weight, shape, below;

	if (!(value->unseen > 0))
		return (struct doubt){0};
	weight = value->skew / variance;
	shape = variance / weight / weight; /* number of clusters */
	below = weight * (shape - gamma_quantile(shape, -DEVIATIONS));
	return (struct doubt){
		.below = ceil(below < value->unseen ? below : value->unseen),
		.above = ceil(weight * (gamma_quantile(shape + 1, DEVIATIONS) - shape)),
	};
}

/* The doubt that losses add to a value. */
static struct doubt other_doubt(const struct mt_value *value)
{
	struct doubt sampling = sampling_doubt(value);

	return (struct doubt){
		.below = value->value - value->low - sampling.below,
		.above = value->high - value->value - sampling.above,
	};
}

static void set_bounds(struct mt_value *value, const struct doubt *other)
{
	struct doubt sampling = sampling_doubt(value);

	value->low = value->value - sampling.below - other->below;
	value->high = value->value + sampling.above + other->above;
}

struct mt_value mt_value_sampled(double seen, uint32_t one_in)
{
	double weight = one_in;
	struct mt_value value = {
		.value = seen * weight,
		.unseen = seen * (weight - 1),
		.variance = seen * seen * weight * (weight - 1),
		.skew = seen * seen * seen * weight * weight * (weight - 1),
	};

	set_bounds(&value, &(struct doubt){0});
	return value;
}

struct mt_value mt_value_again(const struct mt_value *value, uint32_t before)
{
	struct mt_value again = *value;
	struct doubt other = other_doubt(value);

	/* (n + 1)^2 - n^2 and (n + 1)^3 - n^3, with n = before */
	again.variance *= 1 + 2 * (double)before;
	again.skew *= 1 + 3 * (double)before * (1 + (double)before);
	set_bounds(&again, &other);
	return again;
}

struct mt_value mt_value_scaled(const struct mt_value *value, double factor)
{
	return (struct mt_value){
		.value = value->value * factor,
		.low = value->low * factor,
		.high = value->high * factor,
		.unseen = value->unseen * factor,
		.variance = value->variance * factor * factor,
		.skew = value->skew * factor * factor * factor,
	};
}

void mt_value_none_seen(const struct mt_value *other, struct mt_value *value)
{
	if (!value->value && other->unseen > 0)
		value->high += ceil(other->skew / other->variance * gamma_quantile(1, DEVIATIONS));
}

struct mt_value mt_value_change(const struct mt_value *base, const struct mt_value *now)
{
	struct doubt before = sampling_doubt(base), after = sampling_doubt(now);
	struct doubt less = other_doubt(base), more = other_doubt(now);
	double value = now->value - base->value;

	if (!base->unseen && !now->unseen)
		return (struct mt_value){
			.value = value,
			.low = now->low - base->high,
			.high = now->high - base->low,
		};
	return (struct mt_value){
		.value = value,
		.low = value - hypot(after.below, before.above) - more.below - less.above,
		.high = value + hypot(after.above, before.below) + more.above + less.below,
	};
}

void mt_value_add(struct mt_value *sum, const struct mt_value *value, bool same_doubt)
{
	struct doubt had = other_doubt(sum), more = other_doubt(value);
	struct doubt other = {had.below + more.below, had.above + more.above};

	if (same_doubt) {
		other.below = larger(had.below, more.below);
		other.above = larger(had.above, more.above);
	}
	sum->value += value->value;
	if (!same_doubt && !sum->unseen && !value->unseen) {
		sum->low += value->low;
		sum->high += value->high;
		return;
	}
	sum->unseen += value->unseen;
	sum->variance += value->variance;
	sum->skew += value->skew;
	set_bounds(sum, &other);
}
