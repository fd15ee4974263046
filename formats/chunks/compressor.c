/*
 * Keeps zstd's memory in one mapping, which grows to the largest size needed so far. By default
 * zstd allocates its memory with malloc(), which page faults then fill page by page, and resizes it
 * for each content size.
 */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_initStaticCCtx(): exported since zstd 1.3 */
#include "formats/chunks/compressor.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <zstd.h>

#include "formats/base/pages.h"

#define STEP ((size_t)128 << 10)
#define NO_BUFFERS_SINCE 10500 /* ZSTD_compress2() of older versions used its own buffers */

struct mt_compressor {
	ZSTD_CCtx *zstd; /* within memory */
	void *memory;
	size_t size;
};

struct mt_compressor *mt_compressor_create(void)
{
	return calloc(1, sizeof(struct mt_compressor));
}

void mt_compressor_destroy(struct mt_compressor *compressor)
{
	if (!compressor)
		return;
	if (compressor->memory)
		munmap(compressor->memory, compressor->size);
	free(compressor);
}

/* Smaller content can need more memory, because zstd chooses its tables by content size. */
static size_t memory_for(int level, size_t content)
{
	ZSTD_compressionParameters parameters = ZSTD_getCParams(level, content, 0);
	size_t size = ZSTD_versionNumber() < NO_BUFFERS_SINCE
			      ? ZSTD_estimateCStreamSize_usingCParams(parameters)
			      : ZSTD_estimateCCtxSize_usingCParams(parameters);

	return (size + STEP - 1) / STEP * STEP;
}

struct ZSTD_CCtx_s *mt_compressor_for(struct mt_compressor *compressor, int level, size_t content)
{
	size_t size = memory_for(level, content);
	void *memory;

	if (size > compressor->size) {
		memory = mt_pages_map(size);
		if (!memory)
			return NULL;
		if (compressor->memory)
			munmap(compressor->memory, compressor->size);
		*compressor = (struct mt_compressor){.memory = memory, .size = size};
		compressor->zstd = ZSTD_initStaticCCtx(memory, size);
	}
	if (!compressor->zstd)
		return NULL;
	/* zeroed memory is not enough: some parameters have defaults other than 0 */
	ZSTD_CCtx_reset(compressor->zstd, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_compressionLevel, level);
	return compressor->zstd;
}
