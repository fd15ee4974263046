/*
 * From an executable file, open, to its skeleton: reads no more of it than the skeleton needs, and
 * holds little of that at a time, so that a browser of 200 MB costs a few.
 */
#ifndef MT_RECORD_EMBED_IMAGE_H
#define MT_RECORD_EMBED_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/skeleton.h"

struct mt_elf;
struct mt_embed_image;
struct mt_error;
struct mt_file_pages;
struct stat;

/* A file of which the headers, section names and notes are in memory. */
struct mt_embed_file {
	int fd; /* borrowed by these functions */
	struct mt_file_pages *pages;
	struct mt_elf *elf; /* its bytes are those that the pages have */
};

/* Behind a failure it is to be closed, too. */
struct mt_error *mt_embed_file_open(struct mt_embed_file *file, const char *name);
void mt_embed_file_close(struct mt_embed_file *file);

/* Offsets in a file, to which its skeleton is limited as wish.seen says; wish.seen_before's last.
 */
struct mt_embed_places {
	const uint64_t *offsets;
	size_t count, before;
};

/*
 * Plans the skeleton of the file behind fd, which is borrowed, as wish is; .symtab and debug
 * information from the host's debug file of that build id where the file has none itself. places:
 * NULL: all.
 */
struct mt_error *mt_embed_image_create(int fd, const struct mt_skeleton_wish *wish,
				       const struct mt_embed_places *places,
				       struct mt_embed_image **out);
void mt_embed_image_destroy(struct mt_embed_image *image);

/* The skeleton, borrowed. */
struct mt_skeleton *mt_embed_image_skeleton(struct mt_embed_image *image);

/* Bytes of the file. */
uint64_t mt_embed_image_original_size(const struct mt_embed_image *image);

/* Where the host has a debug file of that build id, what stat() says of it; else out is left. */
void mt_embed_image_debug_stat(const void *build_id, size_t size, struct stat *out);

/* MT_KEPT_* of such a wish. */
uint32_t mt_embed_image_kept(const struct mt_skeleton_wish *wish);

#endif
