/*
 * The history of one path's memory in bounded space. Time is split into at most MT_HISTORY_SLICES
 * slices. When time runs past the last slice, all slices double in length.
 */
#ifndef MT_REPORT_VERDICTS_HISTORY_H
#define MT_REPORT_VERDICTS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"

enum {
	MT_HISTORY_SLICES = 128,
};

/* Position and length of slices, shared by all histories that are compared or added. */
struct mt_history_scale {
	uint64_t start; /* ns, start of slice 0 */
	uint32_t shift; /* a slice is 2^shift ns long */
	bool begun;
};

struct mt_history_slice {
	uint32_t at;
	uint32_t count;	 /* reservations in the slice */
	uint32_t ended;	 /* reservations that have ended: mt_history_live() */
	double reserved; /* bytes reserved in the slice */
	double gone;	 /* bytes reserved in the slice and returned since */
	double change;	 /* bytes reserved minus bytes returned in the slice */
};

struct mt_history {
	MT_ARRAY(struct mt_history_slice) slices; /* slices with a change, in order */
	uint32_t shift;				  /* scale->shift of the slices */
	uint64_t first, last;			  /* times of the first and last reservation */
	uint64_t count;
	/* For blocks: reservations by growth; how many of these are live; resizes. */
	uint64_t grown, grown_live, resized;
	uint64_t replaced; /* blocks freed after the same path had allocated a larger one */
	double held, peak;
	uint32_t
		/*
		 * Number of falls to half of `top` or less. Between two falls, the held bytes rise
		 * by a quarter of `peak`.
		 */
		falls;
	bool fallen;	    /* the held bytes fell and have not risen again */
	double top, bottom; /* highest and lowest held bytes since the last fall */
};

/* Doubles the slices' length until one includes `time`. */
void mt_history_scale_reach(struct mt_history_scale *scale, uint64_t time);

/* Length of a slice in seconds. */
double mt_history_scale_seconds(const struct mt_history_scale *scale);

/* Index of the slice that contains a time. */
uint32_t mt_history_scale_slice(const struct mt_history_scale *scale, uint64_t time);

/* Add bytes reserved at `time`, or bytes reserved at `reserved` and returned at `time`. */
void mt_history_reserve(struct mt_history *history, struct mt_history_scale *scale, uint64_t time,
			double bytes);
void mt_history_return(struct mt_history *history, struct mt_history_scale *scale, uint64_t time,
		       uint64_t reserved, double bytes);

/*
 * Adds bytes reserved at `from` and returned at `to` (0: not returned). Unlike the functions above,
 * may be called in any order of time. The scale must have begun. Call mt_history_level() after the
 * last call. mt_history_undo_end() removes the return of added bytes.
 */
void mt_history_live(struct mt_history *history, struct mt_history_scale *scale, uint64_t from,
		     uint64_t to, double bytes);
void mt_history_undo_end(struct mt_history *history, struct mt_history_scale *scale, uint64_t from,
			 uint64_t to, double bytes);
/* Computes the held bytes at the end, the peak and the falls from the slices. */
void mt_history_level(struct mt_history *history);

/* Adds another history of the same scale. Peaks are added as if they were at the same time. */
void mt_history_add(struct mt_history *history, const struct mt_history_scale *scale,
		    struct mt_history *other);

/* Merges slices until they are as long as those of the scale. */
void mt_history_settle(struct mt_history *history, const struct mt_history_scale *scale);

void mt_history_deinit(struct mt_history *history);

#endif
