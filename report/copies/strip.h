/*
 * A recording copied without its stack dumps: each sample's frames take their place (FORMAT.md
 * section 7, FRAMES), as the session unwound them. What reports say of the copy is what they say of
 * the original.
 */
#ifndef MT_REPORT_COPIES_STRIP_H
#define MT_REPORT_COPIES_STRIP_H

#include <stdint.h>

#include "formats/rewrite.h"

struct mt_error;
struct mt_session;

struct mt_strip_counts {
	struct mt_rewrite_counts copied;
	uint64_t stacks;   /* dumps replaced by frames */
	uint64_t distinct; /* different stacks */
	uint64_t frames;
	uint64_t left_out; /* samples that cannot be decoded: nobody knows what is in them */
};

/*
 * Reads the session, opened on path alone with stacks, addresses and no selectors, to its end, and
 * writes the copy to fd. `by` says who did it and how, for the recording's INFO.
 */
struct mt_error *mt_strip(struct mt_session *session, const char *path, const char *by, int fd,
			  struct mt_strip_counts *out);

#endif
