/*
 * The tables of a Firefox profile that all of its threads share: stacks, frames, functions, files,
 * images, strings. Each is a set of columns, and its rows are named by index.
 */
#ifndef MT_REPORT_OUTPUTS_FIREFOX_SHARED_TABLES_H
#define MT_REPORT_OUTPUTS_FIREFOX_SHARED_TABLES_H

#include <stdint.h>
#include <stdio.h>

struct mt_facts;
struct mt_shared_tables;
struct mt_table;

/* Where a stack of no frames stands; and out of memory. */
#define MT_SHARED_ROOT UINT32_MAX
#define MT_SHARED_FAILED (UINT32_MAX - 1)

/* Categories of frames, as the profile's meta lists them. */
enum mt_shared_category {
	MT_CATEGORY_OTHER,
	MT_CATEGORY_USER,
	MT_CATEGORY_KERNEL,
};

/* NULL out of memory. */
struct mt_shared_tables *mt_shared_tables_create(void);
void mt_shared_tables_destroy(struct mt_shared_tables *shared);

/* The row of a frame that is but a text, called from the row `caller`; MT_SHARED_FAILED. */
uint32_t mt_shared_tables_words(struct mt_shared_tables *shared, uint32_t caller, const char *text);

/* The row of a table's stack below the row `caller`; MT_SHARED_FAILED. */
uint32_t mt_shared_tables_stack(struct mt_shared_tables *shared, const struct mt_table *table,
				uint32_t caller, uint32_t stack);

/* Writes the members "libs" and "shared". */
void mt_shared_tables_write(const struct mt_shared_tables *shared, const struct mt_facts *facts,
			    FILE *to);

#endif
