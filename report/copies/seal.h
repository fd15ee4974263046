/*
 * Copies a recording and adds the files that other machines need to read it: skeletons of the
 * images in its samples' stacks, code that return addresses were checked by, kernel symbols, and
 * perf maps. Each file comes from this machine if a build id or the boot id matches. Missing files
 * are reported, and noted in the copy.
 */
#ifndef MT_REPORT_COPIES_SEAL_H
#define MT_REPORT_COPIES_SEAL_H

#include <stdint.h>
#include <stdio.h>

#include "formats/rewrite.h"
#include "symbols/carried/skeleton.h"

struct mt_error;
struct mt_session;

struct mt_seal_options {
	struct mt_skeleton_wish wish; /* what to carry of each image */
	const char *kallsyms;	      /* kallsyms file to use, whatever the boot id; or NULL */
	const char *by;		      /* tool and command line, for the recording's INFO */
	/* Called with a line for each missing item; may be NULL. */
	void (*deliver)(void *context, const char *line);
	void *context;
};

struct mt_seal_counts {
	struct mt_rewrite_counts copied;
	/*
	 * Numbers of images, code, perf maps and kernels that were added, already there, or
	 * missing.
	 */
	uint64_t added, there, lacking;
};

/*
 * Reads the session to its end and writes the copy to fd. The session must be open on `path` only,
 * with stacks, without selectors, and with a preference for this machine's files.
 */
struct mt_error *mt_seal(struct mt_session *session, const char *path,
			 const struct mt_seal_options *options, int fd, struct mt_seal_counts *out);

/* Describes the copy at `path` on one or two lines, which begin with the tool. */
void mt_seal_print(const struct mt_seal_counts *counts, const char *tool, const char *path,
		   FILE *to);

#endif
