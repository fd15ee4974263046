/* The rows of --blocks --all: allocated, freed and live blocks, and anomalies. */
#ifndef MT_REPORT_ANALYSES_BLOCK_TOTALS_H
#define MT_REPORT_ANALYSES_BLOCK_TOTALS_H

struct mt_block_table;

extern const struct mt_block_table mt_block_totals;

#endif
