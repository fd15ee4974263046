/*
 * The unwind tables of what is mapped, in memory, for unwinding while recording: of each file what
 * a recording would carry of it, made when a stack first leads there.
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
	size_t missing; /* of which nothing could be read */
	size_t no_room; /* beyond the memory allowed */
	uint64_t bytes; /* of tables */
	uint64_t ns;	/* the thread's CPU time for reading them */
};

/* Borrows files; holds at most `memory` bytes of tables. NULL out of memory. */
struct mt_code_images *mt_code_images_create(const struct mt_image_files *files, uint64_t memory);
void mt_code_images_destroy(struct mt_code_images *images);

/* A file was read: what is in a memfd is known by its build id, which mappings do not tell. */
void mt_code_images_learn(struct mt_code_images *images, const struct mt_image_record *record);

/* The images that get their tables here; borrowed. */
struct mt_image_set *mt_code_images_set(struct mt_code_images *images);

/* What was read so far. */
struct mt_code_images_counts mt_code_images_counts(const struct mt_code_images *images);

#endif
