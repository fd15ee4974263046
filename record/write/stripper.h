/*
 * Records without the targets' memory: unwinds the stacks of samples on the writing thread, and
 * replaces the raw bytes of stacks with frames before anything is compressed or written (FORMAT.md
 * section 7, FRAMES).
 *
 * Unwinding a sample needs the mappings at its time, whose records may still be in another CPU's
 * ring. So blocks of samples are held until all records before a time have arrived.
 */
#ifndef MT_RECORD_WRITE_STRIPPER_H
#define MT_RECORD_WRITE_STRIPPER_H

#include <stddef.h>
#include <stdint.h>

#include "record/write/code_images.h"
#include "unwind/unwind.h"

struct mt_block;
struct mt_image_files;
struct mt_image_record;
struct mt_plan;
struct mt_strip;

struct mt_strip_config {
	const struct mt_plan *plan;
	const struct mt_image_files *files; /* mapped files with unwind tables */
	uint64_t tables;		    /* maximum bytes of unwind tables in memory */
	size_t hold;			    /* maximum bytes of held blocks; more than one block */
	/* Takes a block of DATA without stacks; the block is valid during the call. */
	void (*put)(void *context, const struct mt_block *block);
	void *context;
};

struct mt_strip_counts {
	uint64_t stacks; /* dumps replaced by frames */
	uint64_t frames;
	uint64_t ends[MT_END_REASONS];
	uint64_t left_out; /* samples that do not decode, or for which memory ran out */
	uint64_t early;	   /* how often blocks were put before all earlier map records arrived */
	uint64_t ns;	   /* CPU time of the thread for stripping */
	struct mt_code_images_counts images;
};

/* Borrows the pointers in config. NULL out of memory. */
struct mt_strip *mt_strip_create(const struct mt_strip_config *config);
void mt_strip_destroy(struct mt_strip *strip);

/* Calls mt_code_images_learn(). */
void mt_strip_learn(struct mt_strip *strip, const struct mt_image_record *record);

/* Takes the TASK and MAP records of a STATE block: the existing processes. */
void mt_strip_see(struct mt_strip *strip, const struct mt_block *block);

/* Holds the records of a block of DATA. */
void mt_strip_hold(struct mt_strip *strip, const struct mt_block *block);

/* Returns the number of bytes held. */
size_t mt_strip_held(const struct mt_strip *strip);

/*
 * Puts the held records before time `below`, or all if `below` is UINT64_MAX. Records that are held
 * later must not be before that time.
 */
void mt_strip_put(struct mt_strip *strip, uint64_t below);

/* Puts all held records. Nothing may be held afterwards. */
void mt_strip_end(struct mt_strip *strip);

/* Returns the counts so far. */
struct mt_strip_counts mt_strip_counts(const struct mt_strip *strip);

#endif
