/*
 * Accounts of blocks: which blocks of memory live in each address space, by the samples and marks
 * of allocators, in order of time. An account begins empty with its space, by fork or exec, and
 * ends with it: what a child got from its parent by fork is the parent's.
 */
#ifndef MT_REPORT_BLOCKS_BLOCKS_H
#define MT_REPORT_BLOCKS_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/blocks/block_map.h"
#include "report/cli/request.h"
#include "report/ledger/origins.h"

struct mt_blocks;
struct mt_error;
struct mt_session;

/* The account of an address space as it is told. Valid during the call. */
struct mt_blocks_space {
	uint32_t recording; /* index into facts->recordings */
	int32_t pid;
	uint32_t generation; /* execs of this process before this space */
	bool ended, execed;  /* by exit; by exec */
	/*
	 * The moment in ns: of the peak, of its end or of the recording's, or of --at. Blocks count
	 * as they stood then. Of a block that is freed: of that.
	 */
	uint64_t time;
};

/* The end of a block that was freed, or whose address was given again. */
struct mt_block_end {
	uint64_t time; /* ns */
	/* Freed by the thread that allocated it, which allocated nothing in between. */
	bool temporary;
	bool resized; /* it goes on with another size, as by realloc */
	/* Freed by a thread whose last allocation was a larger one, by the same stack. */
	bool replaced;
};

/* What is no block's life, and counts by its origin. */
enum mt_block_anomaly {
	MT_ANOMALY_FAILED, /* calls that gave nothing, of the path that called */
	/*
	 * Frees, which have no stack. Of a block that was freed before: of the path that allocated
	 * it, as far as that is known, and of the thread that freed it again. Of a block that was
	 * not seen allocated: of the thread alone.
	 */
	MT_ANOMALY_TWICE,
	MT_ANOMALY_UNKNOWN,
	MT_BLOCK_ODDS
};

struct mt_blocks_options {
	struct mt_at at;
	bool alongside; /* the samples that the session gives stay the same; else allocations alone
			 */
	bool kernel;	/* blocks of the kernel's allocators, not of programs': one space */
	/*
	 * Called for each block of a space, and with the number of odd calls by each origin, when
	 * the space or the recording ends, or the moment has come. False out of memory.
	 * `doubtful`: its free may be among records that were lost. Both may be NULL.
	 */
	bool (*block)(void *context, const struct mt_blocks_space *space,
		      const struct mt_origin *origin, const struct mt_block *block, bool doubtful);
	bool (*anomaly)(void *context, const struct mt_blocks_space *space,
			const struct mt_origin *origin, enum mt_block_anomaly anomaly,
			uint64_t calls);
	/* Called for each block as it is freed. May be NULL; false out of memory. */
	bool (*gone)(void *context, const struct mt_blocks_space *space,
		     const struct mt_origin *origin, const struct mt_block *block,
		     const struct mt_block_end *end);
	/* Called behind the blocks of a space, with all that live at the end. The same. */
	bool (*remaining)(void *context, const struct mt_blocks_space *space,
			  const struct mt_block_map *map);
	void *context;
};

/*
 * Makes accounts for a session that another caller reads to its end between begin and end. Call
 * before the session's first sample. Borrows the session and the options.
 */
struct mt_error *mt_blocks_begin(struct mt_session *session,
				 const struct mt_blocks_options *options, struct mt_blocks **out);
/* Counts what is not in the accounts in the session's facts. Gives what mt_blocks_run() does. */
uint64_t mt_blocks_end(struct mt_blocks *blocks);
void mt_blocks_destroy(struct mt_blocks *blocks);

/*
 * Reads the whole session. Borrows the session and options->context. Counts what is not in the
 * accounts in the session's facts. *lost: records of allocators that were lost.
 */
struct mt_error *mt_blocks_run(struct mt_session *session, const struct mt_blocks_options *options,
			       uint64_t *lost);

#endif
