/*
 * Counts user stacks that end early. Ends in the C library's function that calls main or a thread's
 * function are not counted, because the missing callers are not part of the program.
 */
#ifndef MT_REPORT_SESSION_ENTRY_ENDS_H
#define MT_REPORT_SESSION_ENTRY_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"

struct mt_facts;
struct mt_frames;

struct mt_entry_end {
	uint32_t frame, reason; /* enum mt_stack_end */
	uint64_t stacks;
};

/* A zeroed struct has no counts. */
struct mt_entry_ends {
	MT_ARRAY(struct mt_entry_end) items;
	struct mt_map64 by_frame; /* frame and reason to index */
};

void mt_entry_ends_deinit(struct mt_entry_ends *ends);

/* Counts a stack whose outermost frame is in an image at that path. */
void mt_entry_ends_add(struct mt_entry_ends *ends, uint32_t frame, uint32_t reason,
		       const char *path);

/* Sets facts->entry_ends, naming the frames. */
void mt_entry_ends_report(const struct mt_entry_ends *ends, struct mt_frames *frames,
			  struct mt_facts *facts);

#endif
