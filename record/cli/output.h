/* The output file: opened late and private. An earlier file is kept as FILE.old. */
#ifndef MT_RECORD_CLI_OUTPUT_H
#define MT_RECORD_CLI_OUTPUT_H

struct mt_error;

/*
 * Opens `path` with mode 0600; "-" is standard output. The caller closes *fd. A failure is
 * MT_ERR_OUTPUT.
 *
 * 1. An existing regular file is renamed to path.old, also through a symbolic link.
 * 2. A FIFO: waits until it has a reader or `signals` is readable; *fd is then non-blocking.
 * 3. In a sticky directory that others may write to, a link, FIFO or file is refused unless this
 *    user or root owns it.
 */
struct mt_error *mt_output_open(const char *path, int signals, int *fd);

/*
 * Removes the regular file that mt_output_open() created, if nothing was recorded. Otherwise the
 * next such failure would replace path.old by an empty file.
 */
void mt_output_discard(const char *path, int fd);

#endif
