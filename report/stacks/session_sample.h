/* A sample that a session returns. */
#ifndef MT_REPORT_STACKS_SESSION_SAMPLE_H
#define MT_REPORT_STACKS_SESSION_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/reader.h"

struct mt_attr;
struct mt_image_map;
struct mt_return_slot;
struct mt_sample;
struct mt_space;
struct mt_task;

/* Valid until the next mt_session_next(). */
struct mt_session_sample {
	uint32_t event;	    /* index into facts->events */
	uint32_t recording; /* index into facts->recordings */
	uint64_t serial;    /* serial of the sample's record */
	struct mt_place place;
	uint64_t time;
	double weight;			/* number of samples that this one represents */
	const struct mt_task *task;	/* the task at this moment */
	const struct mt_space *space;	/* the space now: its map may be newer, or freed */
	const struct mt_image_map *map; /* the space's map at the time of the sample */
	const struct mt_attr *attr;
	const struct mt_sample *kernel;
	uint32_t process, cgroup;	/* string ids: process name, cgroup path */
	uint32_t kind, file;		/* of the region, string ids; 0 without options.regions */
	uint32_t stack;			/* id in mt_session_stacks(), or MT_STACK_NONE */
	const uint64_t *addresses;	/* of each frame; NULL without options.addresses */
	const uint64_t *pcs;		/* addresses used for lookup; NULL likewise */
	const uint8_t *sources;		/* enum mt_frame_source of each frame; NULL likewise */
	uint32_t kernel_frames, frames; /* kernel frames; all frames */
	/*
	 * the thread's replaced return addresses (unwind/return_slots.h), at most MT_RETURN_SLOTS
	 */
	const struct mt_return_slot *returns;
	size_t return_count;
	bool returned;	  /* a return probe's sample: the innermost pc is a return address */
	bool seed;	  /* only for the joiner, never returned */
	uint32_t shorter; /* of a seed: size of the dumps of its pair, in bytes */
	/* The sample is of a group member; the weight is the growth of the member's count. */
	bool member;
	bool user;	    /* the sample has a user stack, so `end` is valid */
	uint8_t end;	    /* enum mt_stack_end of the user stack */
	uint8_t walked_end; /* enum mt_stack_end before joining */
	bool withheld;	    /* the stack could be joined, but not reliably */
};

#endif
