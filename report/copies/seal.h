/*
 * A recording copied with what it lacks to be read anywhere: skeletons of the images that its
 * samples passed through and the code that branch records are classified by, the kernel's symbols
 * around them, perf maps. Each is this machine's where
 * a build id or the boot vouches for it; what cannot be had is told, in the copy too.
 */
#ifndef MT_REPORT_COPIES_SEAL_H
#define MT_REPORT_COPIES_SEAL_H

#include <stdint.h>

#include "formats/rewrite.h"
#include "symbols/carried/skeleton.h"

struct mt_error;
struct mt_session;

struct mt_seal_options {
	struct mt_skeleton_wish wish; /* what is to be carried of each image */
	const char *kallsyms; /* where the kernel's symbols are whatever the boot; or NULL */
	const char *by;	      /* who did it and how, for the recording's INFO */
	/* Told each thing that cannot be had, in a line; may be NULL. */
	void (*tell)(void *context, const char *line);
	void *context;
};

struct mt_seal_counts {
	struct mt_rewrite_counts copied;
	uint64_t added, there, lacking; /* images, their code, perf maps, kernels */
};

/*
 * Reads the session, opened on path alone with stacks, without selectors and with this machine's
 * files preferred, to its end, and writes the copy to fd.
 */
struct mt_error *mt_seal(struct mt_session *session, const char *path,
			 const struct mt_seal_options *options, int fd, struct mt_seal_counts *out);

#endif
