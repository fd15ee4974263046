/* A zstd context whose memory is there before it is touched. */
#ifndef MT_FORMATS_COMPRESSOR_H
#define MT_FORMATS_COMPRESSOR_H

struct ZSTD_CCtx_s;

/*
 * NULL out of memory; ZSTD_freeCCtx() frees it. Its tables come when it first compresses: page by
 * page each of them would be a fault, and where those are recorded a sample of our own.
 */
struct ZSTD_CCtx_s *mt_compressor_create(void);

#endif
