/*
 * Where a report goes: standard output, or a file that appears whole or not at all.
 */
#ifndef MT_REPORT_OUTFILE_H
#define MT_REPORT_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct mt_error;

struct mt_outfile {
	FILE *file;	  /* to write to; NULL when it is ended */
	int fd;		  /* what it writes to */
	int errnum;	  /* of the first write that failed, 0 without one */
	const char *path; /* borrowed; NULL for standard output */
	char *target;	  /* what path leads to; NULL: it is written to as it is */
	char *temporary;  /* its name until it is put in place; NULL where it is written directly */
	bool nameless;	  /* it gets that name only when it is whole */
};

/*
 * Opens path (NULL or "-": standard output). A regular file is written under a temporary name
 * beside it, mode 0600; a device or a pipe is written directly. `out` must stay where it is until
 * it is ended.
 */
struct mt_error *mt_outfile_open(const char *path, struct mt_outfile *out);

/*
 * Ends it: everything written is flushed and checked, then put in place; what was there becomes
 * PATH.old.
 */
struct mt_error *mt_outfile_commit(struct mt_outfile *out);

/* Ends it without a result, where it was not committed: the temporary file is removed. */
void mt_outfile_abandon(struct mt_outfile *out);

#endif
