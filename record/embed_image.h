/*
 * From an executable file, open, to its skeleton: reads no more of it than the skeleton needs, so
 * that a browser of 200 MB costs a few.
 */
#ifndef MT_RECORD_EMBED_IMAGE_H
#define MT_RECORD_EMBED_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/skeleton.h"

struct mt_error;

/* What was made of a file. */
struct mt_embedded {
	uint8_t *bytes; /* the skeleton; free() it */
	size_t size;
	uint64_t original_size;
	uint32_t kept; /* MT_KEPT_* */
};

/*
 * Makes the skeleton of the file behind fd, which stays the caller's; .symtab and debug information
 * from the host's debug file of that build id where the file has none itself. memory bounds the
 * bytes that are read.
 */
struct mt_error *mt_embed_image(int fd, const struct mt_skeleton_wish *wish, size_t memory,
				struct mt_embedded *out);

#endif
