/*
 * Calls of the kernel's allocators from their tracepoints: kmalloc and caches of objects, pages,
 * per-CPU memory.
 */
#ifndef MT_REPORT_BLOCKS_KERNEL_CALLS_H
#define MT_REPORT_BLOCKS_KERNEL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/blocks/block_calls.h"

struct mt_kernel_allocator;
struct mt_sample;

/* The calls that an event records. All zero: no call of an allocator. */
struct mt_kernel_event {
	const struct mt_kernel_allocator *allocator; /* NULL: none */
	struct mt_field address, asked, usable, name;
	uint32_t one_in; /* set by the caller: objects that a recorded one represents; 0: one */
};

/* True if an event of this name is a call of the kernel's allocators. */
bool mt_kernel_event_is(const char *name);

/* `name` is the kernel's name; a filter after it is ignored. */
struct mt_kernel_event mt_kernel_event_parse(const char *name, const struct mt_text *format);

/* Separate accounts: an address in one is unrelated to the same address in another. */
enum mt_kernel_account {
	MT_KERNEL_OBJECTS,
	MT_KERNEL_PAGES,
	MT_KERNEL_PER_CPU,
};

/*
 * Decodes a call, and returns its account. *cache is the name of the object cache, *length bytes
 * long; "" without a cache.
 */
enum mt_kernel_account mt_kernel_call_take(const struct mt_kernel_event *event,
					   const struct mt_sample *sample, uint64_t time,
					   struct mt_block_call *out, const char **cache,
					   uint32_t *length);

#endif
