/*
 * The report's output: standard output, or a file that is replaced as a whole or not at all.
 */
#ifndef MT_REPORT_OUTFILE_H
#define MT_REPORT_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct mt_error;

struct mt_outfile {
	FILE *file;	  /* stream for the caller to write to; NULL once closed */
	int fd;		  /* descriptor under the stream */
	int errnum;	  /* errno of the first failed write; 0 if none failed */
	const char *path; /* as given, borrowed; NULL for standard output */
	char *target;	  /* file to replace, links resolved; NULL: path is written directly */
	char *temporary;  /* temporary name in target's folder; NULL: path is written directly */
	bool nameless; /* the open file has no name yet (O_TMPFILE); commit links it as `temporary`
			*/
};

/*
 * Opens path (NULL or "-": standard output). A regular file is written under a temporary name in
 * the target's folder, mode 0600; a device or a pipe is written directly. `out` must not move until
 * commit or abandon.
 */
struct mt_error *mt_outfile_open(const char *path, struct mt_outfile *out);

/*
 * Flushes, checks and closes the output, then renames the file into place. An earlier file at PATH
 * becomes PATH.old.
 */
struct mt_error *mt_outfile_commit(struct mt_outfile *out);

/* Removes the temporary file of the open output, for a program that ends immediately. */
void mt_outfile_unlink_open(void);

/* Closes the output and removes the temporary file. Does nothing after a commit. */
void mt_outfile_abandon(struct mt_outfile *out);

#endif
