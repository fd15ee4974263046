/*
 * Calls of allocators from their events (formats/FORMAT.md section 4.3): pairs each thread's
 * entries with returns, and decides what a call did to the blocks.
 */
#ifndef MT_REPORT_BLOCKS_BLOCK_CALLS_H
#define MT_REPORT_BLOCKS_BLOCK_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/blocks/block_map.h"
#include "report/tables/trace_fields.h"

struct mt_attr;
struct mt_block_calls;
struct mt_event_record;
struct mt_sample;
struct mt_strings;

enum mt_block_operation {
	MT_BLOCK_NONE, /* not used by accounts of blocks */
	MT_BLOCK_ALLOC,
	MT_BLOCK_ENTER,
	MT_BLOCK_FREE,
};

/* The operation that an EVENT's `account` names first. */
enum mt_block_operation mt_block_operation_of(const char *account);

/*
 * How many blocks a recorded block represents, by an event's `account`. Recorded blocks are chosen
 * by address.
 */
uint32_t mt_block_one_in(const char *account);

/* The sizes in bytes that an event with that `account` was limited to. False: no limit. */
bool mt_block_sizes(const char *account, uint64_t *least, uint64_t *most);

/* The calls that an event records. All zero: no call of an allocator. */
struct mt_block_event {
	enum mt_block_operation operation;
	uint32_t function; /* string id of the word of=NAME; the same for all events without it */
	uint32_t one_in;
	uint64_t least, most; /* only blocks of these bytes are recorded; most 0: all are */
	struct mt_field ptr, size, count, old, out;
};

/* The calls that an EVENT describes. */
struct mt_block_event mt_block_event_parse(const struct mt_event_record *record,
					   struct mt_strings *strings);

enum mt_block_effect {
	MT_BLOCK_NOTHING,
	MT_BLOCK_GIVES,
	MT_BLOCK_FAILS,
	MT_BLOCK_FREES,
	MT_BLOCK_UNREADABLE, /* the block's address is not in the sample */
};

struct mt_block_call {
	enum mt_block_effect effect;
	struct mt_block_given given; /* GIVES: without origin; FAILS: the requested bytes */
	uint64_t freed; /* FREES: the address; else the block that realloc freed, 0: none */
	bool resizes;	/* the freed block continues with another size, as in realloc */
};

/* The calls of threads that have not returned. */
struct mt_block_calls *mt_block_calls_create(void);
void mt_block_calls_destroy(struct mt_block_calls *calls);

/*
 * Notes that blocks are sampled. The return from realloc is then missing if the address of the new
 * block was not chosen. So the old block is freed at the entry of realloc, even if realloc fails.
 */
void mt_block_calls_set_sampled(struct mt_block_calls *calls);

/*
 * Takes a sample or mark of a thread; `attr` is the attributes of its event. Rules:
 *
 * 1. An entry belongs to the thread's next return from the same function.
 * 2. If the caller passes `out`, the function returns an error number, 0: none, and the address is
 *    read from the sample's stack dump. If blocks are sampled, blocks that are not chosen are left
 *    out.
 * 3. If a call fails because a call inside it failed, the failure counts once, for the inner call.
 * 4. If no bytes were requested, a return of NULL is not a failure, and frees `old`.
 * 5. If a thread frees a block in two functions in a row, the block is freed once.
 * 6. Blocks of a size that the event leaves out have no effect, and neither have failures to
 *    allocate them, but a block that the call freed is still freed. The size is the requested one,
 *    else the usable one.
 */
struct mt_block_call mt_block_calls_take(struct mt_block_calls *calls,
					 const struct mt_block_event *event,
					 const struct mt_attr *attr, const struct mt_sample *sample,
					 uint64_t time);

/* Forgets a thread that ended or called exec. */
void mt_block_calls_end(struct mt_block_calls *calls, int32_t tid);

#endif
