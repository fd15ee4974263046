/* A zstd context whose memory is there before it is touched. */
#ifndef MT_FORMATS_CHUNKS_COMPRESSOR_H
#define MT_FORMATS_CHUNKS_COMPRESSOR_H

#include <stddef.h>

struct ZSTD_CCtx_s;
struct mt_compressor;

/* NULL out of memory. */
struct mt_compressor *mt_compressor_create(void);
void mt_compressor_destroy(struct mt_compressor *compressor);

/*
 * The context, for ZSTD_compress2() of so many bytes at that level; until the next call, which may
 * give another one: parameters are set after each. NULL out of memory.
 */
struct ZSTD_CCtx_s *mt_compressor_for(struct mt_compressor *compressor, int level, size_t content);

#endif
