/*
 * The tables of a Firefox profile that all of its threads share: stacks, frames, functions, files,
 * images, strings. Each is a set of columns, and its rows are named by index.
 */
#ifndef MT_REPORT_OUTPUTS_FIREFOX_SHARED_TABLES_H
#define MT_REPORT_OUTPUTS_FIREFOX_SHARED_TABLES_H

#include <stdbool.h>
#include <stdio.h>

struct mt_facts;
struct mt_places;

/* Categories of frames, as the profile's meta lists them. */
enum mt_shared_category {
	MT_CATEGORY_OTHER,
	MT_CATEGORY_USER,
	MT_CATEGORY_KERNEL,
};

/*
 * Writes the members "libs" and "shared". The row of a stack is one less than its node. False out
 * of memory.
 */
bool mt_shared_tables_write(const struct mt_places *places, const struct mt_facts *facts, FILE *to);

#endif
