#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_createCCtx_advanced(): there since 1.0, and exported */
#include "formats/compressor.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zstd.h>

#include "formats/base/pages.h"

#define LARGE ((size_t)64 << 10) /* less is malloc()'s matter */
#define STEP ((size_t)128 << 10) /* what is mapped is so many bytes, or twice, ... */

/*
 * Of one context. zstd fits its memory to what it compresses: contents of changing sizes have it
 * give memory back and get other, again and again. What was given back last is kept for that.
 */
struct memory {
	size_t pieces; /* given out; with the last one all is over */
	void *spare;
	size_t spare_size;
};

/* In front of what is given out, which so is as aligned as zstd wants it. */
union front {
	size_t mapped; /* bytes, with this; 0: it is malloc()'s */
	char room[64];
};

static void *take_mapped(struct memory *memory, size_t size, size_t *mapped)
{
	void *bytes = memory->spare;

	*mapped = memory->spare_size;
	memory->spare = NULL;
	memory->spare_size = 0;
	if (*mapped >= size)
		return bytes;
	if (bytes)
		munmap(bytes, *mapped);
	*mapped = (size + STEP - 1) / STEP * STEP;
	return mt_pages_map(*mapped);
}

static void *get(void *context, size_t size)
{
	struct memory *memory = context;
	size_t all = size + sizeof(union front), mapped = 0;
	union front *front;

	if (all < size || all > SIZE_MAX - STEP)
		return NULL;
	front = all < LARGE ? malloc(all) : take_mapped(memory, all, &mapped);
	if (!front)
		return NULL;
	front->mapped = mapped;
	memory->pieces++;
	return front + 1;
}

/* Keeps the larger one. */
static void keep_mapped(struct memory *memory, void *bytes, size_t size)
{
	if (size < memory->spare_size) {
		munmap(bytes, size);
		return;
	}
	if (memory->spare)
		munmap(memory->spare, memory->spare_size);
	memory->spare = bytes;
	memory->spare_size = size;
}

static void end(struct memory *memory)
{
	if (memory->spare)
		munmap(memory->spare, memory->spare_size);
	free(memory);
}

static void give_back(void *context, void *bytes)
{
	struct memory *memory = context;
	union front *front = bytes;

	if (!bytes)
		return;
	front--;
	if (front->mapped)
		keep_mapped(memory, front, front->mapped);
	else
		free(front);
	if (!--memory->pieces)
		end(memory);
}

struct ZSTD_CCtx_s *mt_compressor_create(void)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	struct ZSTD_CCtx_s *zstd = NULL;

	if (memory)
		zstd = ZSTD_createCCtx_advanced((ZSTD_customMem){get, give_back, memory});
	if (!zstd)
		free(memory);
	return zstd;
}
