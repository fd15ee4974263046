/*
 * The order in which effects took place. A call takes effect when its thread acquires the mmap
 * lock, but the effect is known only at the exit of the call. So a place in a queue is reserved at
 * the lock and filled in at the exit. Effects leave the front of the queue complete and in order.
 * In recordings without lock events, places are taken at the exits.
 */
#ifndef MT_REPORT_LEDGER_ORDER_H
#define MT_REPORT_LEDGER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/account/account.h"
#include "report/account/call.h"
#include "report/ledger/page_events.h"

struct mt_ledger_space;
struct mt_order;

enum mt_effect_kind {
	MT_EFFECT_NOTHING, /* the place is not used */
	MT_EFFECT_CALL,
	MT_EFFECT_FOUND, /* a mapping that no call made */
	MT_EFFECT_FORK,
	MT_EFFECT_END, /* end of a space */
	MT_EFFECT_TOUCH,
	MT_EFFECT_COUNT, /* the kernel's count of a space's pages changed */
	MT_EFFECT_ALLOC, /* the kernel allocated 2^order pages */
};

struct mt_effect {
	enum mt_effect_kind kind;
	/*
	 * All fields of the kind are set. A CALL or TOUCH that is not ready waits for its stack,
	 * and is never given up.
	 */
	bool ready;
	bool of_a_call; /* reserved inside a call, whose exit fills the effect in */
	bool of_a_fork; /* probably of a fork, which may take long: kept longer */
	uint64_t time;
	uint64_t enter, exit; /* times of entry and exit, for calls whose order is unknown */
	struct mt_ledger_space *space, *parent; /* FORK: space is the child's */
	struct mt_task_name {
		int32_t pid, tid;
		uint32_t comm, process, cgroup, exe;
	} task;
	uint32_t event, stack;
	bool selected;
	bool exec; /* END: the space ended by exec */
	union {
		struct mt_vm_call call;
		struct mt_found found;
		uint64_t address; /* TOUCH */
		struct mt_page_count count;
		uint32_t order; /* ALLOC */
	};
};

#define MT_PLACE_NONE UINT64_MAX

/* With more than `most` effects in the queue, the oldest is given up. */
struct mt_order *mt_order_create(size_t most);
void mt_order_destroy(struct mt_order *order);

/* Adds a place at the end, and returns it. */
uint64_t mt_order_add(struct mt_order *order, uint64_t time);

/* The effect at a place; NULL once the effect has left the queue. Borrowed until the next add. */
struct mt_effect *mt_order_at(struct mt_order *order, uint64_t place);

/*
 * Removes and returns the effect at the front once it is ready, else NULL. Borrowed until the next
 * add. Places that are not ready are given up:
 *
 * 1. places outside any call, if they are older than `patience` ns at `now`, or 50 times `patience`
 *    for places of forks;
 * 2. with `all`, every place.
 */
const struct mt_effect *mt_order_next(struct mt_order *order, uint64_t now, uint64_t patience,
				      bool all);

#endif
