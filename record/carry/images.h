/*
 * The files behind executable mappings: each one is opened, and its build id read, once, when the
 * first record that maps it passes by. This is the writing thread's, which does not wait for files:
 * another one opens and reads them (file_worker.h), and what they answer is taken later.
 */
#ifndef MT_RECORD_CARRY_IMAGES_H
#define MT_RECORD_CARRY_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

struct mt_block;
struct mt_sampled_places;
struct mt_image_choice;
struct mt_file_worker;
struct mt_image_files;
struct mt_image_record;
struct mt_images;
struct mt_kernel_seen;
struct mt_plan;

/* Where IMAGE records go. The record is borrowed during the call. */
struct mt_image_sink {
	void *context;
	void (*put)(void *context, const struct mt_image_record *record);
};

/* All borrowed. */
struct mt_images_config {
	struct mt_image_sink sink;
	const struct mt_plan *plan;	/* how the side-band records decode */
	struct mt_image_choice *choice; /* is told of what processes map and do; or NULL */
	struct mt_sampled_places *code; /* is told of where they map images; NULL likewise */
	struct mt_image_files *files;	/* gets all files that are mapped */
	struct mt_file_worker *worker;	/* opens and reads them, nobody else's */
	bool at_once;			/* answers are waited for when a file is first seen */
};

/* NULL out of memory. */
struct mt_images *mt_images_create(const struct mt_images_config *config);
void mt_images_destroy(struct mt_images *images);

/* Looks through a block's MAP and MMAP2 records for executable files not seen yet. */
void mt_images_see(struct mt_images *images, const struct mt_block *block);

/*
 * Takes answers that have come; waits for others until that time of CLOCK_MONOTONIC, as long as
 * files answer quickly or patient says so. True where none is to come any more.
 */
bool mt_images_take_answers(struct mt_images *images, uint64_t until, bool patient);

/* Tells the choice whose samples are in a DATA block. */
void mt_images_see_samples(struct mt_images *images, const struct mt_block *block);

/* The kernel addresses in the samples seen; NULL where nothing is carried. Borrowed. */
struct mt_kernel_seen *mt_images_kernel_seen(struct mt_images *images);

#endif
