/*
 * Decides which blocks are sampled, by a fixed function of a block's address: as a predicate, and
 * as the text of an event filter of the kernel (formats/FORMAT.md, section 4.3).
 */
#ifndef MT_FORMATS_RECORDS_ADDRESS_SAMPLE_H
#define MT_FORMATS_RECORDS_ADDRESS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	MT_ONE_IN_MOST = 64,
};

/* The nearest power of two from 1 to MT_ONE_IN_MOST. */
uint32_t mt_one_in_round(uint64_t one_in);

/*
 * True if the sample of 1 in one_in addresses includes that address. one_in is a power of two, else
 * the next lower one is used. The sample of one in N includes the sample of one in 2N. 0 is never
 * chosen.
 */
bool mt_address_is_sampled(uint64_t address, uint32_t one_in);

/*
 * The same rule for a u64 field of a tracepoint, as an expression of at most 2 KiB for
 * PERF_EVENT_IOC_SET_FILTER (`!` needs Linux 4.0). The caller frees it. NULL out of memory, and if
 * one_in is 1, which needs no filter.
 */
char *mt_address_filter(const char *field, uint32_t one_in);

#endif
