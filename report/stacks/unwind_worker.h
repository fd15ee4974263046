/*
 * From a sample to the addresses of its stack: user frames from the unwinder, kernel frames from
 * the kernel half of the callchain put innermost. A walker is one worker's state; walkers share
 * nothing but what they read.
 */
#ifndef MT_REPORT_STACKS_UNWIND_WORKER_H
#define MT_REPORT_STACKS_UNWIND_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

struct mt_attr;
struct mt_branch;
struct mt_image_map;
struct mt_sample;
struct mt_walker;

struct mt_walker_options {
	const struct mt_unwind_method *method; /* a row of mt_unwind_methods */
	uint32_t max_frames; /* at most so many user frames, and so many kernel frames */
	bool addresses;	     /* give the frames' addresses too */
	bool joining;	     /* give their stack pointers too */
	bool scan;	     /* guess at callers where nothing else is left */
	bool stitching; /* call stacks of branch records go on with earlier ones (pipeline.c) */
};

struct mt_walk_input {
	const struct mt_attr *attr;
	const struct mt_sample *sample;
	const struct mt_image_map *map;
	const struct mt_branch *stitched; /* the sample's branch records with earlier ones behind */
	size_t stitched_count;		  /* 0: the sample's alone */
};

/* Of a frame's address: it was guessed. No program has code there. */
#define MT_WALKED_SCANNED ((uint64_t)1 << 62)

struct mt_walk_words {
	uint64_t *items;
	size_t count, capacity;
};

/*
 * A stack in words, by index of the first of `pcs`: kernel and then user addresses to look up,
 * innermost first. Before them stands one word that says which code they are in; behind them, where
 * asked for, as many addresses as perf prints them, and the sources, a byte each; and the stack
 * pointers of the user frames.
 */
struct mt_walked {
	size_t pcs;
	uint32_t kernel, count; /* frames in the kernel, and all */
	uint32_t hash;		/* of the pcs and the word before them */
	bool user;		/* it had user registers or branch records, so that `end` counts */
	uint8_t end;		/* enum mt_stack_end */
	uint8_t walked_end;	/* the same, before stacks were joined */
	bool withheld;		/* it could have been joined, but that may well be wrong */
	uint64_t boundary;	/* struct mt_stack's */
};

/* NULL out of memory. */
struct mt_walker *mt_walker_create(const struct mt_walker_options *options);
void mt_walker_destroy(struct mt_walker *walker);

/*
 * Asks the processor for what walking this will read, a part with each call: called with `ahead` 2
 * and 1, so many walks before its own.
 */
void mt_walker_prefetch(const struct mt_walker *walker, const struct mt_walk_input *input,
			unsigned int ahead);

/* Appends the stack to words; false out of memory. */
bool mt_walker_walk(struct mt_walker *walker, const struct mt_walk_input *input,
		    struct mt_walk_words *words, struct mt_walked *out);

/* Makes room for a stack of so many frames and gives it; false out of memory. */
bool mt_walked_make(struct mt_walk_words *words, bool addresses, const struct mt_walked *like,
		    uint32_t count, struct mt_walked *out);

/* The hash that `hash` is to be. */
uint32_t mt_walked_hash(const struct mt_walk_words *words, const struct mt_walked *walked);

/* Views the stack pointers of the user frames, where they were asked for. */
const uint64_t *mt_walked_sps(const struct mt_walk_words *words, const struct mt_walked *walked,
			      bool addresses);

/* Views the addresses and sources behind the pcs, where they were asked for. */
const uint64_t *mt_walked_addresses(const struct mt_walk_words *words,
				    const struct mt_walked *walked);
const uint8_t *mt_walked_sources(const struct mt_walk_words *words, const struct mt_walked *walked);

#endif
