/*
 * The order in which effects happened. A call takes effect when its thread gets the mmap lock, but
 * is understood only at its exit: its place in the queue is taken at the lock, and filled later.
 * What comes out at the front is whole, and in order. Without locks in a recording places are taken
 * at the exits.
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
	MT_EFFECT_NOTHING, /* the place is given up */
	MT_EFFECT_CALL,
	MT_EFFECT_FOUND, /* what no call made */
	MT_EFFECT_FORK,
	MT_EFFECT_END,	 /* of a space */
	MT_EFFECT_TOUCH, /* a page fault */
	MT_EFFECT_COUNT, /* the kernel's count of a space's pages changed */
	MT_EFFECT_ALLOC, /* the kernel took pages in a row */
};

struct mt_effect {
	enum mt_effect_kind kind;
	/*
	 * Kind and all that belongs to it hold. A CALL or TOUCH that is not ready waits for its
	 * stack, and is never given up.
	 */
	bool ready;
	bool of_a_call; /* its thread is inside a call that will end */
	bool of_a_fork; /* most likely: waited for longer, as a fork may take long */
	uint64_t time;
	uint64_t enter, exit; /* when the call ran, for those whose order is not known */
	struct mt_ledger_space *space, *parent; /* FORK: space is the child's */
	struct mt_task_name {
		int32_t pid, tid;
		uint32_t comm, process, cgroup; /* string ids */
	} task;
	uint32_t event, stack;
	bool selected;
	bool exec; /* END: by exec */
	union {
		struct mt_vm_call call;
		struct mt_found found;
		uint64_t address; /* TOUCH */
		struct mt_page_count count;
		uint32_t order; /* ALLOC */
	};
};

#define MT_PLACE_NONE UINT64_MAX

/* NULL out of memory. `most` effects wait at once; the oldest is given up to make room. */
struct mt_order *mt_order_create(size_t most);
void mt_order_destroy(struct mt_order *order);

/* Takes the last place; MT_PLACE_NONE out of memory. */
uint64_t mt_order_add(struct mt_order *order, uint64_t time);

/* What stands in a place; NULL where it is no longer waited for. Borrowed until the next add. */
struct mt_effect *mt_order_at(struct mt_order *order, uint64_t place);

/*
 * The effect at the front where it is ready, and takes it away; NULL where there is none. At `now`,
 * places of threads that are in no call known here are given up when `patience` ns old, those of
 * forks when 50 times that; with `all`, every place that is not ready. Borrowed until the next add.
 */
const struct mt_effect *mt_order_next(struct mt_order *order, uint64_t now, uint64_t patience,
				      bool all);

/* Places given up although a call came later: it is then ordered by its exit. */
uint64_t mt_order_given_up(const struct mt_order *order);

#endif
