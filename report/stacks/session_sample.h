/* A sample that a session gives. */
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
	const struct mt_space *space;	/* its map may be newer, or freed */
	const struct mt_image_map *map; /* the space's map at the sample */
	const struct mt_attr *attr;
	const struct mt_sample *kernel;
	uint32_t process, cgroup;	/* string ids: process name, cgroup path */
	uint32_t kind, file;		/* string ids of the region; 0 without options.regions */
	uint32_t stack;			/* id in mt_session_stacks(), or MT_STACK_NONE */
	const uint64_t *addresses;	/* each frame's address; NULL without options.addresses */
	const uint64_t *pcs;		/* addresses used for lookup; NULL likewise */
	const uint8_t *sources;		/* enum mt_frame_source of each frame; NULL likewise */
	uint32_t kernel_frames, frames; /* kernel frames; all frames */
	/*
	 * the thread's replaced return addresses (unwind/return_slots.h), at most MT_RETURN_SLOTS
	 */
	const struct mt_return_slot *returns;
	size_t return_count;
	bool returned;	  /* a return probe's sample: the innermost pc is a return address */
	bool seed;	  /* only for the joiner, never given */
	uint32_t shorter; /* of a seed: bytes of its pair's dumps */
	/* Of a group member, counted alongside its leader's sample; weight is the growth. */
	bool member;
	bool user;	    /* has a user stack, so `end` is valid */
	uint8_t end;	    /* enum mt_stack_end of the user stack */
	uint8_t walked_end; /* enum mt_stack_end before joining */
	bool withheld;	    /* could be joined, but not reliably */
};

#endif
