/*
 * The files behind executable mappings: each one's build id, read once, when the first record that
 * maps it passes by. Runs on the writing thread, off the drains.
 */
#ifndef MT_RECORD_IMAGES_H
#define MT_RECORD_IMAGES_H

struct mt_block;
struct mt_code_seen;
struct mt_embed_choice;
struct mt_image_record;
struct mt_images;
struct mt_kernel_seen;
struct mt_mapped_file;
struct mt_plan;

/* Where IMAGE records go. The record is borrowed during the call. */
struct mt_image_sink {
	void *context;
	void (*put)(void *context, const struct mt_image_record *record);
	/* Of each file once, and each jitdump, open or -1; may be NULL. */
	void (*file)(void *context, int fd, const struct mt_mapped_file *file,
		     const struct mt_image_record *record);
};

/*
 * plan is borrowed: how the side-band records decode; so is choice, which is told of what processes
 * map and do, and code, of where they map images, or both NULL. NULL out of memory.
 */
struct mt_images *mt_images_create(const struct mt_image_sink *sink, const struct mt_plan *plan,
				   struct mt_embed_choice *choice, struct mt_code_seen *code);
void mt_images_destroy(struct mt_images *images);

/* Looks through a block's MAP and MMAP2 records for executable files not seen yet. */
void mt_images_see(struct mt_images *images, const struct mt_block *block);

/* Tells the choice whose samples are in a DATA block. */
void mt_images_see_samples(struct mt_images *images, const struct mt_block *block);

/* The kernel addresses in the samples seen; NULL where nothing is carried. Borrowed. */
struct mt_kernel_seen *mt_images_kernel_seen(struct mt_images *images);

#endif
