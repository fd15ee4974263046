/*
 * Unwind tables of mapped files, in memory, for unwinding while recording. They are the tables that
 * a recording would carry, and are read when a stack first has a frame in the file.
 */
#ifndef MT_RECORD_WRITE_CODE_IMAGES_H
#define MT_RECORD_WRITE_CODE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

struct mt_code_images;
struct mt_image_files;
struct mt_image_record;
struct mt_image_set;

struct mt_code_images_counts {
	size_t read;	/* images with tables */
	size_t missing; /* images that could not be read */
	size_t no_room; /* images left out by the memory limit */
	uint64_t bytes; /* of all tables */
	uint64_t ns;	/* CPU time of the thread for reading them */
};

/* Borrows files; keeps at most `memory` bytes of tables. NULL out of memory. */
struct mt_code_images *mt_code_images_create(const struct mt_image_files *files, uint64_t memory);
void mt_code_images_destroy(struct mt_code_images *images);

/* Call when a file was read. Learns the build id of a memfd, which mappings do not contain. */
void mt_code_images_learn(struct mt_code_images *images, const struct mt_image_record *record);

/* Returns the images that use these tables; borrowed. */
struct mt_image_set *mt_code_images_set(struct mt_code_images *images);

/* Returns the counts so far. */
struct mt_code_images_counts mt_code_images_counts(const struct mt_code_images *images);

#endif
