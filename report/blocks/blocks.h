/*
 * Accounts of blocks: the live blocks of each address space, by the samples and marks of
 * allocators, in order of time. An account begins empty with its space, by fork or exec, and ends
 * with it. Blocks that a child inherits by fork belong to the parent's account.
 */
#ifndef MT_REPORT_BLOCKS_BLOCKS_H
#define MT_REPORT_BLOCKS_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/blocks/block_map.h"
#include "report/ledger/origins.h"
#include "report/session/timespan.h"

struct mt_blocks;
struct mt_error;
struct mt_session;

/* The account of an address space. Valid during the call. */
struct mt_blocks_space {
	uint32_t recording; /* index into facts->recordings */
	int32_t pid;
	uint32_t generation; /* execs of this process before this space */
	bool ended, execed;  /* the space ended; by exec */
	/*
	 * The moment in ns: the peak, the end of the space or the recording, or --at. Blocks are as
	 * of this moment. For a freed block: the time of its free.
	 */
	uint64_t time;
};

/* The end of a block that was freed, or whose address was returned again. */
struct mt_block_end {
	uint64_t time; /* ns */
	/* Freed by the thread that allocated it, which allocated nothing in between. */
	bool temporary;
	bool resized; /* the block continues with another size, as by realloc */
	/* Freed by a thread whose last allocation was a larger one, by the same stack. */
	bool replaced;
};

/* Calls that are not part of a block's life, counted by origin. */
enum mt_block_anomaly {
	MT_ANOMALY_FAILED, /* failed calls, by the path that called */
	/*
	 * Frees; they have no stack. TWICE: a free of a freed block, by the path that allocated the
	 * block, if known, and the thread that freed it again. UNKNOWN: a free of a block whose
	 * allocation was not seen, by the thread.
	 */
	MT_ANOMALY_TWICE,
	MT_ANOMALY_UNKNOWN,
	MT_BLOCK_ANOMALIES
};

struct mt_blocks_options {
	struct mt_at at;
	bool alongside; /* does not restrict the session to samples of allocations */
	bool kernel;	/* blocks of the kernel's allocators, in one space, not those of programs */
	/*
	 * `block` is called for each block of a space, and `anomaly` with the number of anomalies
	 * by each origin, when the space or the recording ends, or at the requested moment.
	 * `doubtful`: the block's free may be in lost records. Both callbacks may be NULL.
	 */
	void (*block)(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, bool doubtful);
	void (*anomaly)(void *context, const struct mt_blocks_space *space,
			const struct mt_origin *origin, enum mt_block_anomaly anomaly,
			uint64_t calls);
	/* Called for each block as it is freed. May be NULL. */
	void (*gone)(void *context, const struct mt_blocks_space *space,
		     const struct mt_origin *origin, const struct mt_block *block,
		     const struct mt_block_end *end);
	/* Called after the blocks of a space, with those that are live at the end. May be NULL. */
	void (*remaining)(void *context, const struct mt_blocks_space *space,
			  const struct mt_block_map *map);
	void *context;
};

/*
 * Makes accounts for a session that another caller reads to its end between begin and end. Call
 * before the session's first sample. Borrows the session and the options.
 */
struct mt_blocks *mt_blocks_begin(struct mt_session *session,
				  const struct mt_blocks_options *options);
/*
 * Adds numbers of calls that the accounts lack to the session's facts. Returns the number of lost
 * records of allocators.
 */
uint64_t mt_blocks_end(struct mt_blocks *blocks);
void mt_blocks_destroy(struct mt_blocks *blocks);

#endif
