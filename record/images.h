/*
 * The files behind executable mappings: each one's build id, read once, when the first record that
 * maps it passes by. Runs on the writing thread, off the drains.
 */
#ifndef MT_RECORD_IMAGES_H
#define MT_RECORD_IMAGES_H

struct mt_block;
struct mt_image_record;
struct mt_images;
struct mt_plan;

/* Where IMAGE records go. The record is borrowed during the call. */
struct mt_image_sink {
	void *context;
	void (*put)(void *context, const struct mt_image_record *record);
	/* The file behind a record, open for the time of the call; it may be no ELF file. */
	void (*found)(void *context, int fd, const struct mt_image_record *record);
};

/* plan is borrowed: how the side-band records decode. NULL out of memory. */
struct mt_images *mt_images_create(const struct mt_image_sink *sink, const struct mt_plan *plan);
void mt_images_destroy(struct mt_images *images);

/* Looks through a block's MAP and MMAP2 records for executable files not seen yet. */
void mt_images_see(struct mt_images *images, const struct mt_block *block);

#endif
