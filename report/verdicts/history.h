/*
 * The history of what one path held over time, in bounded memory: time is cut into slices, at most
 * MT_HISTORY_SLICES of them, which become twice as long whenever time runs past the last.
 */
#ifndef MT_REPORT_VERDICTS_HISTORY_H
#define MT_REPORT_VERDICTS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"

enum {
	MT_HISTORY_SLICES = 128,
};

/* Where slices lie; shared by all histories that are compared or added. */
struct mt_history_scale {
	uint64_t start; /* ns, of slice 0 */
	uint32_t shift; /* a slice is 2^shift ns long */
	bool begun;
};

struct mt_history_slice {
	uint32_t at;
	uint32_t count;	 /* reservations in it */
	double reserved; /* bytes, in it */
	double gone;	 /* of them, returned by now */
	double change;	 /* of what was held, in it: reserved less returned */
};

struct mt_history {
	MT_ARRAY(struct mt_history_slice) slices; /* those in which something happened, in order */
	uint32_t shift;				  /* they were made for */
	uint64_t first, last;			  /* reservation */
	uint64_t count;
	double held, peak;
	uint32_t
		falls; /* to half of the top before it or less, and back by a quarter of the peak */
	bool fallen;   /* and not back yet */
	double top, bottom; /* since the last fall */
};

/* Makes slices long enough for that time to have one. */
void mt_history_scale_reach(struct mt_history_scale *scale, uint64_t time);

/* How long a slice is, in seconds. */
double mt_history_scale_seconds(const struct mt_history_scale *scale);

/* Which slice a time is in. */
uint32_t mt_history_scale_slice(const struct mt_history_scale *scale, uint64_t time);

/* Bytes reserved, or returned that had been reserved then. False out of memory, as below. */
bool mt_history_reserve(struct mt_history *history, struct mt_history_scale *scale, uint64_t time,
			double bytes);
bool mt_history_return(struct mt_history *history, struct mt_history_scale *scale, uint64_t time,
		       uint64_t reserved, double bytes);

/* Adds another of the same scale; peaks and tops at different times are taken for one. */
bool mt_history_add(struct mt_history *history, const struct mt_history_scale *scale,
		    struct mt_history *other);

/* Makes its slices as long as the scale says. */
void mt_history_settle(struct mt_history *history, const struct mt_history_scale *scale);

void mt_history_deinit(struct mt_history *history);

#endif
