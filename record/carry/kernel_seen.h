/*
 * The kernel addresses in samples. Checks each word of a record instead of decoding the record,
 * since the writing thread does this for every sample. So a few collected words may not be
 * addresses.
 */
#ifndef MT_RECORD_CARRY_KERNEL_SEEN_H
#define MT_RECORD_CARRY_KERNEL_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_kernel_seen;

/* NULL out of memory. */
struct mt_kernel_seen *mt_kernel_seen_create(void);
void mt_kernel_seen_destroy(struct mt_kernel_seen *seen);

/* Adds the kernel addresses among the words of a sample. */
void mt_kernel_seen_add(struct mt_kernel_seen *seen, const uint8_t *bytes, size_t size);

/* Returns true if there are untaken addresses, and they are at least 1/32 of all addresses. */
bool mt_kernel_seen_has_news(const struct mt_kernel_seen *seen);

/*
 * Takes the addresses added since the last call, in rising order; the caller frees them. NULL if
 * there are none, or out of memory. *all: there were too many to keep.
 */
uint64_t *mt_kernel_seen_take(struct mt_kernel_seen *seen, size_t *count, bool *all);

#endif
