/*
 * From an executable file, open, to its skeleton: reads no more of it than the skeleton needs, and
 * holds little of that at a time, so that a browser of 200 MB costs a few.
 */
#ifndef MT_RECORD_CARRY_EMBED_IMAGE_H
#define MT_RECORD_CARRY_EMBED_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/carried/skeleton.h"

struct mt_elf;
struct mt_embed_image;
struct mt_error;
struct mt_file_pages;
struct mt_file_worker;

/* A file of which the headers, section names and notes are in memory. */
struct mt_embed_file {
	struct mt_file_worker *worker; /* who reads it; or NULL */
	int fd;			       /* borrowed by these functions */
	struct mt_file_pages *pages;
	struct mt_elf *elf; /* its bytes are those that the pages have */
};

/* Behind a failure it is to be closed, too. */
struct mt_error *mt_embed_file_open(struct mt_embed_file *file, const char *name);
void mt_embed_file_close(struct mt_embed_file *file);

/* Offsets in a file, to which its skeleton is limited as wish.seen says. */
struct mt_embed_places {
	const uint64_t *offsets;
	size_t count;
};

/*
 * Plans the skeleton of the file behind fd, which is borrowed as its reader is, as wish is; .symtab
 * and debug information from the host's debug file of that build id where the file has none itself.
 * places: NULL: all.
 */
struct mt_error *mt_embed_image_create(struct mt_file_worker *worker, int fd,
				       const struct mt_skeleton_wish *wish,
				       const struct mt_embed_places *places,
				       struct mt_embed_image **out);
void mt_embed_image_destroy(struct mt_embed_image *image);

/* The skeleton, borrowed. */
struct mt_skeleton *mt_embed_image_skeleton(struct mt_embed_image *image);

/* Bytes of the file. */
uint64_t mt_embed_image_original_size(const struct mt_embed_image *image);

/* MT_KEPT_* of such a wish. */
uint32_t mt_embed_image_kept(const struct mt_skeleton_wish *wish);

#endif
