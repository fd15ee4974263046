/*
 * Compresses a stream to a FILE as gzip does.
 */
#ifndef MT_REPORT_OUTPUTS_PPROF_GZIP_H
#define MT_REPORT_OUTPUTS_PPROF_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct mt_gzip;

/* Borrows the stream; the caller checks it for write errors. */
struct mt_gzip *mt_gzip_create(FILE *to);

/* Compresses bytes, and writes the compressed bytes that are complete. */
void mt_gzip_write(struct mt_gzip *gzip, const void *bytes, size_t size);

/* Writes the remaining compressed bytes and the end of the stream. */
void mt_gzip_finish(struct mt_gzip *gzip);
void mt_gzip_destroy(struct mt_gzip *gzip);

#endif
