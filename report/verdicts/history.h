/*
 * The history of one path's memory in bounded space: time is split into at most MT_HISTORY_SLICES
 * slices, which double in length whenever time runs past the last one.
 */
#ifndef MT_REPORT_VERDICTS_HISTORY_H
#define MT_REPORT_VERDICTS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"

enum {
	MT_HISTORY_SLICES = 128,
};

/* The slices' position and length; shared by all histories that are compared or added. */
struct mt_history_scale {
	uint64_t start; /* ns, start of slice 0 */
	uint32_t shift; /* a slice is 2^shift ns long */
	bool begun;
};

struct mt_history_slice {
	uint32_t at;
	uint32_t count;	 /* reservations in the slice */
	uint32_t ended;	 /* of them, those of ended lives: mt_history_live() */
	double reserved; /* bytes reserved in the slice */
	double gone;	 /* bytes of those returned since */
	double change;	 /* bytes reserved minus bytes returned in the slice */
};

struct mt_history {
	MT_ARRAY(struct mt_history_slice) slices; /* slices with a change, in order */
	uint32_t shift;				  /* scale->shift of the slices */
	uint64_t first, last;			  /* times of the first and last reservation */
	uint64_t count;
	/* Of blocks: lives of what they grew by as they were resized; those that last; resizes. */
	uint64_t grown, grown_live, resized;
	uint64_t replaced; /* blocks that went as a larger one by the same path had come */
	double held, peak;
	uint32_t
		/*
		 * Drops to half of `top` or less, with a rise by a quarter of `peak` between two.
		 */
		falls;
	bool fallen;	    /* dropped, and not risen again */
	double top, bottom; /* highest and lowest since the last drop */
};

/* Doubles the slices' length until one includes `time`. */
void mt_history_scale_reach(struct mt_history_scale *scale, uint64_t time);

/* Length of a slice in seconds. */
double mt_history_scale_seconds(const struct mt_history_scale *scale);

/* Index of the slice with a time. */
uint32_t mt_history_scale_slice(const struct mt_history_scale *scale, uint64_t time);

/*
 * Add bytes reserved at `time`, or bytes reserved at `reserved` and returned at `time`. False out
 * of memory, as below.
 */
bool mt_history_reserve(struct mt_history *history, struct mt_history_scale *scale, uint64_t time,
			double bytes);
bool mt_history_return(struct mt_history *history, struct mt_history_scale *scale, uint64_t time,
		       uint64_t reserved, double bytes);

/*
 * Adds bytes reserved at `from` and returned at `to`; 0: not returned. Other than the above, in any
 * order: the scale has begun, and mt_history_level() follows the last one. Undo takes back the end
 * of such a life. False out of memory.
 */
bool mt_history_live(struct mt_history *history, struct mt_history_scale *scale, uint64_t from,
		     uint64_t to, double bytes);
bool mt_history_undo_end(struct mt_history *history, struct mt_history_scale *scale, uint64_t from,
			 uint64_t to, double bytes);
/* Finds what is held at the end, the peak and the falls from the slices. */
void mt_history_level(struct mt_history *history);

/* Adds another history of the same scale. Peaks are added as if they coincided. */
bool mt_history_add(struct mt_history *history, const struct mt_history_scale *scale,
		    struct mt_history *other);

/* Merges slices to the length of the scale. */
void mt_history_settle(struct mt_history *history, const struct mt_history_scale *scale);

void mt_history_deinit(struct mt_history *history);

#endif
