/* The rows of --blocks, for a caller that keeps the accounts of blocks: mt_block_rows_create(). */
#ifndef MT_REPORT_ANALYSES_BLOCK_TABLES_H
#define MT_REPORT_ANALYSES_BLOCK_TABLES_H

struct mt_block_table;

extern const struct mt_block_table mt_live_blocks;

#endif
