/* What recording blocks costs at a rate that was counted, and 1 in how many keeps to a budget. */
#ifndef MT_RECORD_PLAN_BLOCK_RATE_H
#define MT_RECORD_PLAN_BLOCK_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_plan;

/* What a stop at a probe costs, in seconds: where a function is entered, and where it returns. */
struct mt_stop_prices {
	double emulated, stepped; /* by the instruction there, which the kernel emulates or not */
	double returned;
};

/* As measured on Linux 6.18, for hosts where that is not measured. */
#define MT_STOP_PRICES                                                     \
	{                                                                  \
		.emulated = 0.8e-6, .stepped = 9.3e-6, .returned = 0.4e-6, \
	}

struct mt_block_rate {
	struct mt_stop_prices stops;
	double calls;	      /* allocations a second */
	double allocs, frees; /* calls that pass the filters of --malloc-size, a second */
	double entries;	      /* calls recorded at their entry, too, whatever is chosen */
	double probes;	      /* share of a CPU that the probes cost */
	uint32_t dump_size;   /* bytes */
};

/*
 * Adds what was counted of an event of the plan in some seconds: hits, and those that pass its
 * filter. Events that are no allocation or free, or are counted elsewhere, add nothing.
 */
void mt_block_rate_add(struct mt_block_rate *rate, const struct mt_plan *plan, uint32_t event,
		       uint64_t hits, uint64_t passed, double seconds);

/* Of events from the first on, in some seconds: hits, and those that pass their filters. */
struct mt_block_counts {
	const uint64_t *hits, *passed;
	uint32_t count;
	double seconds;
};

#define MT_EVERY_FILE UINT32_MAX

/* Adds what was counted of the events of a file, or MT_EVERY_FILE, that are not left out. */
void mt_block_rate_add_file(struct mt_block_rate *rate, const struct mt_plan *plan,
			    const struct mt_block_counts *counts, uint32_t file);

/*
 * The allocator's file whose probes cost most, and what is counted of it; 0: there are not two that
 * are not left out.
 */
uint32_t mt_block_rate_dearest(const struct mt_plan *plan, const struct mt_block_counts *counts,
			       struct mt_stop_prices stops, struct mt_block_rate *out);

/* The share of a CPU that the records of 1 in one_in blocks cost, in targets and recorder. */
double mt_block_rate_records(const struct mt_block_rate *rate, uint32_t one_in);

/*
 * True if the probes and the records of 1 in *one_in blocks cost at most that share of a CPU; the
 * least one_in for which they do.
 */
bool mt_block_rate_fits(const struct mt_block_rate *rate, double budget, uint32_t *one_in);

/*
 * What may be spent above the budget for a moment: a server that starts a thousand threads at once
 * is no reason to end.
 */
struct mt_block_credit {
	double budget; /* share of a CPU */
	double left;   /* seconds of CPU; begin with 0 */
};

/* Adds some seconds that took `cost`, a share of a CPU; true if the credit is spent. */
bool mt_block_credit_spend(struct mt_block_credit *credit, double cost, double seconds);

#endif
