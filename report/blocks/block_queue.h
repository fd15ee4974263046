/*
 * Effects on accounts of blocks in the order of their records. An effect that allocates a block
 * waits for its stack, and all later effects wait for it.
 */
#ifndef MT_REPORT_BLOCKS_BLOCK_QUEUE_H
#define MT_REPORT_BLOCKS_BLOCK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "report/blocks/block_calls.h"
#include "report/ledger/origins.h"

struct mt_block_account;

enum mt_queued_kind {
	MT_QUEUED_CALL,
	MT_QUEUED_END,	/* the end of a space */
	MT_QUEUED_LAST, /* a thread ended that is not the process's first */
};

struct mt_queued {
	enum mt_queued_kind kind;
	bool waits;	 /* CALL: waits for the stack of sample `serial` */
	bool execed;	 /* END */
	uint64_t serial; /* of the sample */
	uint64_t time;
	struct mt_block_account *account;
	int32_t tid; /* CALL, LAST */
	struct mt_block_call call;
	struct mt_origin origin; /* of GIVES and FAILS */
};

/* Zero-initialized: empty. */
struct mt_block_queue {
	MT_ARRAY(struct mt_queued) items;
	size_t from; /* the first one */
};

void mt_block_queue_deinit(struct mt_block_queue *queue);

/* A new item at the end, zeroed; NULL out of memory. Valid until the next add. */
struct mt_queued *mt_block_queue_add(struct mt_block_queue *queue);

/* The first item, or NULL. Valid until the next add. */
struct mt_queued *mt_block_queue_first(struct mt_block_queue *queue);

/* Removes the first item; its memory stays valid until the next add. */
void mt_block_queue_drop(struct mt_block_queue *queue);

#endif
