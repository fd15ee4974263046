/*
 * Calls of the kernel's own allocators from their tracepoints: kmalloc and caches of objects,
 * pages, memory of each CPU.
 */
#ifndef MT_REPORT_BLOCKS_KERNEL_CALLS_H
#define MT_REPORT_BLOCKS_KERNEL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/blocks/block_calls.h"

struct mt_kernel_allocator;
struct mt_sample;

/* An event's part. All zero: none. */
struct mt_kernel_event {
	const struct mt_kernel_allocator *allocator; /* NULL: none */
	struct mt_field address, asked, usable, name;
	uint32_t one_in; /* set by the caller: objects that one stands for; 0: 1 */
};

/* Whether an event of this name is a call of the kernel's allocators. */
bool mt_kernel_event_is(const char *name);

/* `name` is the kernel's, a filter behind it is ignored. */
struct mt_kernel_event mt_kernel_event_parse(const char *name, const struct mt_text *format);

/* Addresses of one account do not meet those of another. */
enum mt_kernel_account {
	MT_KERNEL_OBJECTS,
	MT_KERNEL_PAGES,
	MT_KERNEL_PER_CPU,
};

/*
 * What a call gave or freed, and in which account. *cache: the name of the cache of objects, of
 * which *length bytes count; "" without one.
 */
enum mt_kernel_account mt_kernel_call_take(const struct mt_kernel_event *event,
					   const struct mt_sample *sample, uint64_t time,
					   struct mt_block_call *out, const char **cache,
					   uint32_t *length);

#endif
