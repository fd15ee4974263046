/* The file that a recording goes to: made late and private, an earlier one kept as FILE.old. */
#ifndef MT_RECORD_CLI_OUTPUT_H
#define MT_RECORD_CLI_OUTPUT_H

struct mt_error;

/*
 * Opens `path` (0600; an existing regular file is renamed to path.old, behind a link too) or
 * standard output for "-". A FIFO is waited for until it has a reader, or `signals` can be read; it
 * does not block then. In a sticky folder that others may write to, what neither we nor root put
 * there is refused: a link, a FIFO, a file. The descriptor is the caller's. A failure is
 * MT_ERR_OUTPUT.
 */
struct mt_error *mt_output_open(const char *path, int signals, int *fd);

/*
 * Removes the regular file that mt_output_open() made, where nothing will be recorded after all:
 * otherwise a second such failure would put an empty file in place of path.old.
 */
void mt_output_discard(const char *path, int fd);

#endif
