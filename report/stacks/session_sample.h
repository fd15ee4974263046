/* A sample as a session gives it. */
#ifndef MT_REPORT_STACKS_SESSION_SAMPLE_H
#define MT_REPORT_STACKS_SESSION_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/reader.h"

struct mt_attr;
struct mt_image_map;
struct mt_sample;
struct mt_space;
struct mt_task;

/* Views that hold until the next mt_session_next(). */
struct mt_session_sample {
	uint32_t event;	    /* index in facts->events */
	uint32_t recording; /* index in facts->recordings */
	uint64_t serial;    /* of its record */
	struct mt_place place;
	uint64_t time;
	double weight;			/* samples that this one stands for */
	const struct mt_task *task;	/* as of this moment */
	const struct mt_space *space;	/* whose map may be further on already, or gone */
	const struct mt_image_map *map; /* of the space, as it was at the sample */
	const struct mt_attr *attr;
	const struct mt_sample *kernel;
	uint32_t process, cgroup;  /* string ids: the name of its process, and where it is */
	uint32_t kind, file;	   /* string ids, with options.regions (regions.h); else 0 */
	uint32_t stack;		   /* id in mt_session_stacks(); MT_STACK_NONE without stacks */
	const uint64_t *addresses; /* of the stack's frames; NULL unless asked for */
	const uint64_t *pcs;	   /* where code was looked up, with the addresses */
	const uint8_t *sources;	   /* of the same, enum mt_frame_source; with the addresses */
	uint32_t kernel_frames, frames; /* how many of them are the kernel's, and all */
	bool seed;			/* for the joiner alone: never given */
	uint32_t shorter;		/* of a seed: the dumps beside it, in bytes */
	bool member;	    /* of an event counted beside this sample's; weight: how often */
	bool user;	    /* it had user registers, so that `end` counts */
	uint8_t end;	    /* enum mt_stack_end of its user half */
	uint8_t walked_end; /* the same, before stacks were joined */
	bool withheld;	    /* others go on with it, but not reliably: it was not joined */
};

#endif
