/*
 * The unwind tables of code that processes make themselves, out of the jitdumps that they map, for
 * unwinding while recording: an image for each dump, which is read on as it grows.
 *
 * A dump that has no tables is passed over. Of one that has, either all that it told by then is
 * known or nothing is: code whose place was taken by other code must not be unwound by its tables.
 */
#ifndef MT_RECORD_JIT_TABLES_H
#define MT_RECORD_JIT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_code_images;
struct mt_image;
struct mt_image_identity;
struct mt_jit_tables;
struct mt_mapped_file;

struct mt_jit_tables_config {
	struct mt_code_images *images; /* theirs are the set, and the memory */
	bool timed; /* the recording's clock is so much ahead of CLOCK_MONOTONIC: */
	int64_t ahead;
	/* What the image's dump tells has changed. */
	void (*changed)(void *context, const struct mt_image *image);
	void *context;
};

struct mt_jit_tables_counts {
	size_t dumps; /* with tables */
	size_t codes; /* pieces of code in them */
};

/* Borrows the images. NULL out of memory. */
struct mt_jit_tables *mt_jit_tables_create(const struct mt_jit_tables_config *config);
void mt_jit_tables_destroy(struct mt_jit_tables *tables);

/* A process maps that jitdump; fd is duplicated. */
void mt_jit_tables_add(struct mt_jit_tables *tables, int fd, const struct mt_mapped_file *file);

/* The image of what a dump tells, read by then; NULL where it is not known. */
struct mt_image *mt_jit_tables_image(struct mt_jit_tables *tables,
				     const struct mt_image_identity *identity);

/*
 * Reads what has come to the dumps that were asked for; the work is rationed, and where it is not
 * done nothing is known of a dump until the next time. last: all of it.
 */
void mt_jit_tables_read(struct mt_jit_tables *tables, bool last);

/* What is known now. */
struct mt_jit_tables_counts mt_jit_tables_counts(const struct mt_jit_tables *tables);

#endif
