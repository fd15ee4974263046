/*
 * What an analysis needs recorded in full for its figures to be whole, and the sentence where it is
 * not.
 */
#ifndef MT_REPORT_ANALYSES_PRECONDITIONS_H
#define MT_REPORT_ANALYSES_PRECONDITIONS_H

#include <stdbool.h>

struct mt_error;
struct mt_facts;

/* What the figures of an analysis are about. */
enum mt_needs {
	MT_NEEDS_GROWTH = 1, /* who mapped what, and gave it back */
	MT_NEEDS_MAPS = 2,   /* what is mapped */
	MT_NEEDS_PAGES = 4,  /* what is resident */
	MT_NEEDS_BLOCKS = 8, /* which blocks of allocators live */
	MT_NEEDS_HELD = 16,  /* who holds memory, beside allocators, whose blocks are apart */
};

/*
 * What limits figures of these needs, one line to be freed, NULL where nothing does: "mmap was not
 * recorded: heap only". Of recordings without any event that the figures come from nothing is said.
 */
struct mt_error *mt_preconditions_describe(unsigned int needs, const struct mt_facts *facts,
					   char **out);

/* Whether any event was recorded that figures of these needs come from. */
bool mt_preconditions_source(unsigned int needs, const struct mt_facts *facts);

/* Whether allocations were recorded, which --blocks shows. */
bool mt_preconditions_blocks(const struct mt_facts *facts);

#endif
