/*
 * A zstd context in populated memory.
 */
#ifndef MT_FORMATS_CHUNKS_COMPRESSOR_H
#define MT_FORMATS_CHUNKS_COMPRESSOR_H

#include <stddef.h>

struct ZSTD_CCtx_s;
struct mt_compressor;

/* NULL out of memory. */
struct mt_compressor *mt_compressor_create(void);
void mt_compressor_destroy(struct mt_compressor *compressor);

/*
 * Borrows a context for ZSTD_compress2() of `content` bytes, with the level set and all other
 * parameters at their defaults. The context is valid until the next call. NULL out of memory.
 */
struct ZSTD_CCtx_s *mt_compressor_for(struct mt_compressor *compressor, int level, size_t content);

#endif
