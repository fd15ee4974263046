/*
 * Recording without the targets' memory: samples' stacks are unwound on the writing thread, and
 * their frames take the place of the raw bytes before anything is compressed or written (FORMAT.md
 * section 7, FRAMES).
 *
 * Unwinding a sample takes knowing what was mapped just then, and another CPU's ring may still have
 * that: so blocks of samples are held until everything before a time is here.
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
	const struct mt_image_files *files; /* whose tables stacks are unwound by */
	uint64_t tables;		    /* bytes of unwind tables in memory */
	size_t hold; /* so many bytes of blocks are held at most; more than a block has */
	/* Takes a block of DATA without stacks; it is not kept behind the call. */
	void (*put)(void *context, const struct mt_block *block);
	void *context;
};

struct mt_strip_counts {
	uint64_t stacks; /* dumps replaced by frames */
	uint64_t frames;
	uint64_t ends[MT_END_REASONS];
	uint64_t left_out; /* samples that do not decode, or of which memory was short */
	uint64_t early;	   /* times that blocks were let go before their maps were complete */
	uint64_t ns;	   /* the thread's CPU time for all this */
	struct mt_code_images_counts images;
};

/* Borrows what config points to. NULL out of memory. */
struct mt_strip *mt_strip_create(const struct mt_strip_config *config);
void mt_strip_destroy(struct mt_strip *strip);

/* As mt_code_images_learn(). */
void mt_strip_learn(struct mt_strip *strip, const struct mt_image_record *record);

/* What ran already: the TASK and MAP records of a STATE block. */
void mt_strip_see(struct mt_strip *strip, const struct mt_block *block);

/* Keeps what a block of DATA holds. */
void mt_strip_hold(struct mt_strip *strip, const struct mt_block *block);

/* How many bytes are held. */
size_t mt_strip_held(const struct mt_strip *strip);

/* No record below this time will be held any more: puts those that are. UINT64_MAX: all. */
void mt_strip_put(struct mt_strip *strip, uint64_t below);

/* Nothing will be held any more: puts what is. */
void mt_strip_end(struct mt_strip *strip);

/* What became of stacks so far. */
struct mt_strip_counts mt_strip_counts(const struct mt_strip *strip);

#endif
