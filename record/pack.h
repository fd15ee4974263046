/*
 * The writing thread: takes blocks from the spool, compresses and appends them. It falls back to
 * faster compression, then to none, while the spool is filling up, so that the drains never run out
 * of blocks for want of CPU here.
 */
#ifndef MT_RECORD_PACK_H
#define MT_RECORD_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/writer.h"

struct mt_error;
struct mt_pack;
struct mt_plan;
struct mt_spool;

/*
 * Starts the thread. fd, spool and plan are borrowed; failed_fd (an eventfd) is written when the
 * output fails.
 */
struct mt_error *mt_pack_create(int fd, int level, struct mt_spool *spool,
				const struct mt_plan *plan, int failed_fd, struct mt_pack **out);

/*
 * The recording has ended, and the user may not want to wait for an output that takes nothing: once
 * another SIGINT or SIGTERM can be read from signals_fd, such an output is given up.
 */
void mt_pack_set_ending(struct mt_pack *pack, int signals_fd);

/* Waits for the end of the closed spool; gives the writer's error, if it had one. */
struct mt_error *mt_pack_finish(struct mt_pack *pack);

/* Behind mt_pack_finish(): the writer, for the END chunk. */
struct mt_writer *mt_pack_writer(struct mt_pack *pack);

/* How many chunks were written with less compression than asked for. */
uint64_t mt_pack_hurried(const struct mt_pack *pack);

void mt_pack_destroy(struct mt_pack *pack);

#endif
