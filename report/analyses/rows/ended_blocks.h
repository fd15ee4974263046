/*
 * Blocks that were live when their process ended, by path, for the few processes that had the most
 * bytes. Which processes are shown is only known at the recording's end.
 */
#ifndef MT_REPORT_ANALYSES_ROWS_ENDED_BLOCKS_H
#define MT_REPORT_ANALYSES_ROWS_ENDED_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "report/ledger/origins.h"
#include "report/tables/table.h"

struct mt_block;
struct mt_blocks_space;

enum {
	MT_ENDED_SPACES = 4,
	MT_ENDED_VALUES = 8, /* maximum number of values of a row */
};

/* The blocks of one path and thread. */
struct mt_ended_path {
	struct mt_origin origin;
	size_t blocks;
	struct mt_value values[MT_ENDED_VALUES];
};

struct mt_ended_space {
	uint32_t recording, generation;
	int32_t pid;
	uint64_t bytes;
	MT_ARRAY(struct mt_ended_path) paths;
	struct mt_map64 by_origin;
};

struct mt_ended_blocks {
	struct mt_ended_space spaces[MT_ENDED_SPACES];
};

/*
 * Adds `count` values of a block of a space that ended; all blocks of a space are added in
 * sequence. Bit i of `most`: value i is the largest, not the sum.
 */
void mt_ended_blocks_add(struct mt_ended_blocks *ended, const struct mt_blocks_space *space,
			 const struct mt_origin *origin, const struct mt_block *block,
			 const struct mt_value *values, size_t count, uint32_t most);
/* The largest kept space of a process; NULL if other processes had more bytes. */
const struct mt_ended_space *mt_ended_blocks_of(const struct mt_ended_blocks *ended, int32_t pid);
/* The largest other space of the same program with at least half as many bytes, or NULL. */
const struct mt_ended_space *mt_ended_blocks_alike(const struct mt_ended_blocks *ended,
						   const struct mt_ended_space *space);
void mt_ended_blocks_deinit(struct mt_ended_blocks *ended);

#endif
