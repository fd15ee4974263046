/*
 * The events that an analysis needs in full for exact figures, and the sentence to show if one is
 * missing.
 */
#ifndef MT_REPORT_ANALYSES_PRECONDITIONS_H
#define MT_REPORT_ANALYSES_PRECONDITIONS_H

#include <stdbool.h>

struct mt_facts;

/* What the figures of an analysis are about. */
enum mt_needs {
	MT_NEEDS_GROWTH = 1, /* mappings, and their removal */
	MT_NEEDS_MAPS = 2,   /* the mappings at a moment */
	MT_NEEDS_PAGES = 4,  /* resident pages */
	MT_NEEDS_BLOCKS = 8, /* live blocks of allocators */
	MT_NEEDS_HELD = 16,  /* holders of memory; blocks of allocators are counted apart */
};

/*
 * Describes the limits of figures with these needs on one line: "mmap was not recorded: heap only".
 * The caller frees it. NULL if there are none, or if no event that the figures come from was
 * recorded.
 */
char *mt_preconditions_describe(unsigned int needs, const struct mt_facts *facts);

/* Whether any event was recorded that figures with these needs come from. */
bool mt_preconditions_source(unsigned int needs, const struct mt_facts *facts);

/* Whether allocations were recorded, which --blocks shows. */
bool mt_preconditions_blocks(const struct mt_facts *facts);

#endif
