/* Rows about blocks of allocators: by the path and thread that allocated them, and by size. */
#ifndef MT_REPORT_ANALYSES_BLOCK_ROWS_H
#define MT_REPORT_ANALYSES_BLOCK_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "report/analyses/rows/ended_blocks.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/blocks/blocks.h"
#include "report/sums/analysis.h"

/* --kernel-memory adds the kind: the cache of objects. */
#define MT_BY_OF_BLOCKS                                                                 \
	(MT_BY_BIT(MT_BY_EVENT) | MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_THREAD) |  \
	 MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CGROUP) | MT_BY_BIT(MT_BY_CONTAINER) | \
	 MT_BY_BIT(MT_BY_IMAGE) | MT_BY_BIT(MT_BY_SIZE) | MT_BY_BIT(MT_BY_AGE) |        \
	 MT_BY_BIT(MT_BY_STACK))

enum {
	MT_SIZE_CLASSES = 65, /* 2^0 to 2^63, and above */
};

/* An analysis of blocks. */
struct mt_block_table {
	const char *name;
	const struct mt_value_column *values;
	size_t value_count;
	size_t count;  /* the value that counts blocks: lost records may belong to any row */
	uint32_t most; /* bit i: merging rows takes the largest of value i */
	/* The callbacks get the struct mt_block_rows as their context. */
	struct mt_blocks_options options;
};

struct mt_block_rows {
	struct mt_listener listener; /* first: ops get a pointer to it */
	const struct mt_block_table *of;
	const struct mt_analysis_request *request;
	struct mt_blocks_options options;
	struct mt_blocks *blocks;
	struct mt_ledger_rows rows;
	struct mt_suppressions *suppress; /* or NULL */
	struct mt_row_keys *grouping;	  /* taken by mt_row_keys_table() */
	struct mt_ended_blocks ended;	  /* blocks of processes that the summary leaves out */
	uint32_t sizes[MT_SIZE_CLASSES];  /* names of size classes: string id + 1 */
};

/*
 * Listens while the caller reads the session to its end. Borrows all arguments until the listener
 * is destroyed. `alongside`: see struct mt_blocks_options.
 */
struct mt_listener *mt_block_rows_listen(const struct mt_block_table *of,
					 struct mt_session *session,
					 const struct mt_analysis_request *request, bool alongside);

/* The `listen` of analyses whose `rows` is a struct mt_block_table. */
struct mt_listener *mt_block_table_listen(const struct mt_analysis *analysis,
					  struct mt_session *session,
					  const struct mt_analysis_request *request,
					  bool alongside);

/*
 * Makes the same rows from accounts that the caller keeps. The caller passes the rows as context to
 * the callbacks of of->options. The table can be made once; `lost` is the number of lost records of
 * allocators.
 */
struct mt_block_rows *mt_block_rows_create(struct mt_session *session,
					   const struct mt_analysis_request *request,
					   const struct mt_block_table *of);
struct mt_error *mt_block_rows_table(struct mt_block_rows *rows, uint64_t lost,
				     struct mt_table **out);
void mt_block_rows_destroy(struct mt_block_rows *rows);

/* How many blocks one block of this origin represents. */
uint32_t mt_block_rows_one_in(const struct mt_block_rows *rows, const struct mt_origin *origin);

/* Adds the values to the row of a block, or of calls if `block` is NULL. */
void mt_block_rows_add(struct mt_block_rows *rows, const struct mt_blocks_space *space,
		       const struct mt_origin *origin, const struct mt_block *block,
		       const struct mt_value *values);

/*
 * Adds the blocks that the process had when it ended, if the summary leaves them out. Also adds
 * those of the largest other process of the same program, if it had at least half as many bytes,
 * and sets `second_pid`, which is otherwise untouched. Adds none if other processes had more.
 */
void mt_block_rows_add_ended(struct mt_block_rows *rows, int32_t pid, int32_t *second_pid);

#endif
