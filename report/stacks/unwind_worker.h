/*
 * Walks a sample's stack and returns addresses: first the kernel's part of the callchain, then the
 * user frames from the unwinder. A walker is the state of one worker; walkers share only read-only
 * data.
 */
#ifndef MT_REPORT_STACKS_UNWIND_WORKER_H
#define MT_REPORT_STACKS_UNWIND_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

struct mt_attr;
struct mt_image_map;
struct mt_return_slot;
struct mt_sample;
struct mt_walker;

struct mt_walker_options {
	const struct mt_unwind_method *method; /* a row of mt_unwind_methods */
	uint32_t max_frames;		       /* limit of user frames, and of kernel frames */
	bool addresses;			       /* store the address and source of each frame */
	bool joining;			       /* store the stack pointers of the user frames */
	bool scan;			       /* scan the stack for callers as a last resort */
};

struct mt_walk_input {
	const struct mt_attr *attr;
	const struct mt_sample *sample;
	const struct mt_image_map *map;
	const struct mt_return_slot *returns; /* see unwind/return_slots.h */
	size_t return_count;
	bool returned; /* a sample of a return probe: the pc is a return address */
};

/*
 * Bit in the address of a frame that a scan found. No program has code at addresses with this bit.
 */
#define MT_WALKED_SCANNED ((uint64_t)1 << 62)

struct mt_walk_words {
	uint64_t *items;
	size_t count, capacity;
};

/*
 * A stack in words. `pcs` is the index of the first of `count` addresses to look up: kernel frames,
 * then user frames, innermost first. The word before these addresses identifies their code. After
 * them, if requested:
 *
 * 1. `count` addresses as perf prints them, then `count` sources, a byte each (options.addresses);
 * 2. the user frames' stack pointers (options.joining).
 */
struct mt_walked {
	size_t pcs;
	uint32_t kernel, count; /* number of kernel frames; of all frames */
	uint32_t hash;		/* hash of the pcs and the word before them */
	bool user;	    /* the sample has user registers or branch records, so `end` is valid */
	uint8_t end;	    /* enum mt_stack_end */
	uint8_t walked_end; /* enum mt_stack_end before joining */
	bool withheld;	    /* the stack could be joined, but not reliably */
	uint32_t joined;    /* outermost frames that came from other stacks */
	uint64_t boundary;  /* see struct mt_stack */
};

/* The caller destroys it. */
struct mt_walker *mt_walker_create(const struct mt_walker_options *options);
void mt_walker_destroy(struct mt_walker *walker);

/* Appends a sample's stack to words. */
void mt_walker_walk(struct mt_walker *walker, const struct mt_walk_input *input,
		    struct mt_walk_words *words, struct mt_walked *out);

/* Appends room for a stack of `count` frames with the other fields of `like`. */
void mt_walked_make(struct mt_walk_words *words, bool addresses, const struct mt_walked *like,
		    uint32_t count, struct mt_walked *out);

/* Computes the value of struct mt_walked's `hash`. */
uint32_t mt_walked_hash(const struct mt_walk_words *words, const struct mt_walked *walked);

/* Borrows the user frames' stack pointers; needs options.joining. */
const uint64_t *mt_walked_sps(const struct mt_walk_words *words, const struct mt_walked *walked,
			      bool addresses);

/* Borrow the addresses and sources after the pcs; need options.addresses. */
const uint64_t *mt_walked_addresses(const struct mt_walk_words *words,
				    const struct mt_walked *walked);
const uint8_t *mt_walked_sources(const struct mt_walk_words *words, const struct mt_walked *walked);

#endif
