/*
 * The kernel addresses that samples told of: as words of the records, not by decoding them, since
 * this is done on the writing thread for each sample. Some that are none may be among them.
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

/* Takes note of a sample's words. */
void mt_kernel_seen_add(struct mt_kernel_seen *seen, const uint8_t *bytes, size_t size);

/* Whether those not taken yet are some, and a thirty-second of all. */
bool mt_kernel_seen_has_news(const struct mt_kernel_seen *seen);

/*
 * Takes the addresses that came since the last time, rising, the caller's; NULL where there are
 * none, or out of memory. *all: there were too many to keep.
 */
uint64_t *mt_kernel_seen_take(struct mt_kernel_seen *seen, size_t *count, bool *all);

#endif
