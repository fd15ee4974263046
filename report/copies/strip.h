/*
 * Copies a recording without its stack dumps: each sample's unwound frames replace them (FORMAT.md
 * section 7, FRAMES). Reports on the copy equal reports on the original.
 */
#ifndef MT_REPORT_COPIES_STRIP_H
#define MT_REPORT_COPIES_STRIP_H

#include <stdint.h>
#include <stdio.h>

#include "formats/rewrite.h"

struct mt_error;
struct mt_session;

struct mt_strip_counts {
	struct mt_rewrite_counts copied;
	uint64_t stacks;   /* stack dumps replaced by frames */
	uint64_t distinct; /* distinct stacks */
	uint64_t frames;
	uint64_t left_out; /* undecodable samples, whose content is unknown */
};

/*
 * Reads the session to its end and writes the copy to fd. The session must be open on `path` only,
 * with stacks and addresses, without selectors. `by` is the tool and command line for the
 * recording's INFO.
 */
struct mt_error *mt_strip(struct mt_session *session, const char *path, const char *by, int fd,
			  struct mt_strip_counts *out);

/* Describes the copy at `path` on one or two lines, which begin with the tool. */
void mt_strip_print(const struct mt_strip_counts *counts, const char *tool, const char *path,
		    FILE *to);

#endif
