/* Computes the cost of recording blocks at a counted rate, and the sampling ratio for a budget. */
#ifndef MT_RECORD_PLAN_BLOCK_RATE_H
#define MT_RECORD_PLAN_BLOCK_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_plan;

/* Cost of a stop at a probe in seconds, at the entry and at the return of a function. */
struct mt_stop_prices {
	double emulated, stepped; /* entry; the kernel emulates or steps the instruction */
	double returned;
};

/* Measured on Linux 6.18; used on hosts where the prices cannot be measured. */
#define MT_STOP_PRICES                                                     \
	{                                                                  \
		.emulated = 0.8e-6, .stepped = 9.3e-6, .returned = 0.4e-6, \
	}

struct mt_block_rate {
	struct mt_stop_prices stops;
	double calls;	      /* allocations per second */
	double allocs, frees; /* calls per second that pass the filters of --malloc-size */
	double entries;	      /* calls per second also recorded at their entry, at any one_in */
	double probes;	      /* share of a CPU that the probes cost */
	uint32_t dump_size;   /* bytes */
};

/*
 * Adds the hits of an event in `seconds`, and the hits that passed its filter. Events that are
 * neither an allocation nor a free, and events that are counted elsewhere, add nothing.
 */
void mt_block_rate_add(struct mt_block_rate *rate, const struct mt_plan *plan, uint32_t event,
		       uint64_t hits, uint64_t passed, double seconds);

/* Counts of all events of a plan over `seconds`: hits, and hits that passed the filters. */
struct mt_block_counts {
	const uint64_t *hits, *passed;
	uint32_t count;
	double seconds;
};

#define MT_EVERY_FILE UINT32_MAX

/* Adds the counts of the events of a file, or of MT_EVERY_FILE, except events that are left out. */
void mt_block_rate_add_file(struct mt_block_rate *rate, const struct mt_plan *plan,
			    const struct mt_block_counts *counts, uint32_t file);

/*
 * Returns the allocator file whose probes cost most and sets *out to its rate. Returns 0 if only
 * one file, or none, is not left out.
 */
uint32_t mt_block_rate_dearest(const struct mt_plan *plan, const struct mt_block_counts *counts,
			       struct mt_stop_prices stops, struct mt_block_rate *out);

/* Returns the share of a CPU, in targets and recorder, that recording 1 in one_in blocks costs. */
double mt_block_rate_records(const struct mt_block_rate *rate, uint32_t one_in);

/*
 * Returns true if the probes and the records of 1 in *one_in blocks cost at most `budget`, a share
 * of a CPU. Sets *one_in to the smallest ratio that fits.
 */
bool mt_block_rate_fits(const struct mt_block_rate *rate, double budget, uint32_t *one_in);

/*
 * Credit above the budget for short bursts, so that a server which starts a thousand threads at
 * once does not end the recording of blocks.
 */
struct mt_block_credit {
	double budget; /* share of a CPU */
	double left;   /* seconds of CPU; starts at 0 */
};

/*
 * Charges `seconds` in which recording cost the share `cost` of a CPU. Returns true if the credit
 * is spent.
 */
bool mt_block_credit_spend(struct mt_block_credit *credit, double cost, double seconds);

#endif
