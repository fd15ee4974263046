#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_createCCtx_advanced(): there since 1.0, and exported */
#include "formats/compressor.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <zstd.h>

#include "formats/base/pages.h"

#define LARGE ((size_t)64 << 10) /* less is malloc()'s matter */

/* In front of what is given out, which so is as aligned as zstd wants it. */
union front {
	size_t mapped; /* bytes, with this; 0: it is malloc()'s */
	char room[64];
};

static void *get(void *unused, size_t size)
{
	size_t all = size + sizeof(union front);
	union front *front;

	(void)unused;
	if (all < size)
		return NULL;
	front = all < LARGE ? malloc(all) : mt_pages_map(all);
	if (!front)
		return NULL;
	front->mapped = all < LARGE ? 0 : all;
	return front + 1;
}

static void give_back(void *unused, void *bytes)
{
	union front *front = bytes;

	(void)unused;
	if (!bytes)
		return;
	front--;
	if (front->mapped)
		munmap(front, front->mapped);
	else
		free(front);
}

struct ZSTD_CCtx_s *mt_compressor_create(void)
{
	return ZSTD_createCCtx_advanced((ZSTD_customMem){get, give_back, NULL});
}
