/*
 * The files of executable mappings: opens each file and reads its build id once, at the first
 * record that maps it. Used by the writing thread, which does not wait for files: a worker thread
 * opens and reads them (file_worker.h), and the answers are taken later.
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

/* Receives IMAGE records. The record is valid during the call. */
struct mt_image_sink {
	void *context;
	void (*put)(void *context, const struct mt_image_record *record);
};

/* All pointers are borrowed. */
struct mt_images_config {
	struct mt_image_sink sink;
	const struct mt_plan *plan;	/* says how to decode side-band records */
	struct mt_image_choice *choice; /* receives records of processes; or NULL */
	struct mt_sampled_places *code; /* receives the mappings of images; or NULL */
	struct mt_image_files *files;	/* receives all mapped files */
	struct mt_file_worker *worker;	/* opens and reads the files; only used here */
	bool at_once;			/* wait for the answer when a file is first seen */
};

/* NULL out of memory. */
struct mt_images *mt_images_create(const struct mt_images_config *config);
void mt_images_destroy(struct mt_images *images);

/* Searches a block's MAP and MMAP2 records for executable files not seen yet. */
void mt_images_see(struct mt_images *images, const struct mt_block *block);

/*
 * Takes answers, and waits for outstanding ones until CLOCK_MONOTONIC is `until` (ns). If `patient`
 * is false, waits only while files answer quickly. True if no answer is outstanding.
 */
bool mt_images_take_answers(struct mt_images *images, uint64_t until, bool patient);

/* Reports the processes with samples in a DATA block to the choice; collects kernel addresses. */
void mt_images_see_samples(struct mt_images *images, const struct mt_block *block);

/* Returns the kernel addresses of the samples so far, borrowed; NULL if nothing is carried. */
struct mt_kernel_seen *mt_images_kernel_seen(struct mt_images *images);

#endif
