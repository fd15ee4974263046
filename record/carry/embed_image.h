/*
 * Makes the skeleton of an executable file. Reads only the parts that the skeleton needs, a few at
 * a time, so that a few MB of memory are enough for a browser of 200 MB.
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

/* An open file with its headers, section names and notes in memory. */
struct mt_embed_file {
	struct mt_file_worker *worker; /* thread that reads it, or NULL */
	int fd;			       /* borrowed by these functions */
	struct mt_file_pages *pages;
	struct mt_elf *elf; /* reads its bytes from pages */
};

/* Opens the ELF file of file->fd. Call mt_embed_file_close() even after a failure. */
struct mt_error *mt_embed_file_open(struct mt_embed_file *file, const char *name);
void mt_embed_file_close(struct mt_embed_file *file);

/* Offsets in a file; its skeleton is limited to what surrounds them (wish.seen). */
struct mt_embed_places {
	const uint64_t *offsets;
	size_t count;
};

/*
 * Plans the skeleton of the file fd. If the file lacks .symtab or debug information, takes it from
 * the host's debug file with the same build id. Borrows worker and fd for the life of the image.
 * places NULL: the whole file.
 */
struct mt_error *mt_embed_image_create(struct mt_file_worker *worker, int fd,
				       const struct mt_skeleton_wish *wish,
				       const struct mt_embed_places *places,
				       struct mt_embed_image **out);
void mt_embed_image_destroy(struct mt_embed_image *image);

/* Returns the skeleton, borrowed. */
struct mt_skeleton *mt_embed_image_skeleton(struct mt_embed_image *image);

/* Returns the size of the file in bytes. */
uint64_t mt_embed_image_original_size(const struct mt_embed_image *image);

#endif
