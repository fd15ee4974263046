/* The length of slices grows with time. A history stores only slices with a change. */
#include "report/verdicts/history.h"

#include <string.h>

enum {
	FIRST_SHIFT = 20, /* 1 ms */
};

void mt_history_scale_reach(struct mt_history_scale *scale, uint64_t time)
{
	if (!scale->begun)
		*scale = (struct mt_history_scale){time, FIRST_SHIFT, true};
	if (time <= scale->start)
		return;
	while ((time - scale->start) >> scale->shift >= MT_HISTORY_SLICES)
		scale->shift++;
}

double mt_history_scale_seconds(const struct mt_history_scale *scale)
{
	return (double)(1ull << scale->shift) / 1e9;
}

uint32_t mt_history_scale_slice(const struct mt_history_scale *scale, uint64_t time)
{
	uint64_t at = time > scale->start ? (time - scale->start) >> scale->shift : 0;

	return at < MT_HISTORY_SLICES ? (uint32_t)at : MT_HISTORY_SLICES - 1;
}

static void add_slice(struct mt_history_slice *to, const struct mt_history_slice *more)
{
	to->count += more->count;
	to->ended += more->ended;
	to->reserved += more->reserved;
	to->gone += more->gone;
	to->change += more->change;
}

void mt_history_settle(struct mt_history *history, const struct mt_history_scale *scale)
{
	struct mt_history_slice *slices = history->slices.items;
	size_t kept = 0;

	if (history->shift == scale->shift)
		return;
	for (size_t i = 0; i < history->slices.count; i++) {
		struct mt_history_slice slice = slices[i];

		/* in 64 bits, because with damaged times the shift may exceed 32 */
		slice.at = (uint32_t)((uint64_t)slice.at >> (scale->shift - history->shift));
		if (kept && slices[kept - 1].at == slice.at)
			add_slice(&slices[kept - 1], &slice);
		else
			slices[kept++] = slice;
	}
	history->slices.count = kept;
	history->shift = scale->shift;
}

/* The slice with the number `at`, created if new. */
static struct mt_history_slice *slice_at(struct mt_history *history, uint32_t at)
{
	size_t count = history->slices.count, i = count;
	struct mt_history_slice *slices;

	while (i && history->slices.items[i - 1].at >= at)
		i--;
	if (i < count && history->slices.items[i].at == at)
		return &history->slices.items[i];
	mt_array_push(&history->slices);
	slices = history->slices.items;
	memmove(slices + i + 1, slices + i, (count - i) * sizeof(*slices));
	slices[i] = (struct mt_history_slice){.at = at};
	return &slices[i];
}

static struct mt_history_slice *slice_of(struct mt_history *history, struct mt_history_scale *scale,
					 uint64_t time)
{
	if (!history->slices.count)
		history->shift = scale->shift;
	mt_history_settle(history, scale);
	return slice_at(history, mt_history_scale_slice(scale, time));
}

static void note_level(struct mt_history *history)
{
	if (history->held > history->peak)
		history->peak = history->held;
	if (history->fallen) {
		history->bottom = history->held < history->bottom ? history->held : history->bottom;
		history->fallen = history->held < history->bottom + history->peak / 4;
		history->top = history->held;
	} else if (history->held > history->top) {
		history->top = history->held;
	} else if (history->held <= history->top / 2 && history->top >= history->peak / 4) {
		history->falls++;
		history->fallen = true;
		history->bottom = history->held;
	}
}

void mt_history_reserve(struct mt_history *history, struct mt_history_scale *scale, uint64_t time,
			double bytes)
{
	struct mt_history_slice *slice;

	mt_history_scale_reach(scale, time);
	slice = slice_of(history, scale, time);
	slice->count++;
	slice->reserved += bytes;
	slice->change += bytes;
	if (!history->count++)
		history->first = time;
	history->last = time;
	history->held += bytes;
	note_level(history);
}

void mt_history_return(struct mt_history *history, struct mt_history_scale *scale, uint64_t time,
		       uint64_t reserved, double bytes)
{
	struct mt_history_slice *slice;

	mt_history_scale_reach(scale, time);
	slice = slice_of(history, scale, reserved);
	slice->gone += bytes;
	slice = slice_of(history, scale, time);
	slice->change -= bytes;
	history->held -= bytes;
	note_level(history);
}

/* Adds the end of a life; with sign -1 removes it. */
static void add_end(struct mt_history *history, struct mt_history_scale *scale, uint64_t from,
		    uint64_t to, double bytes, int sign)
{
	struct mt_history_slice *slice = slice_of(history, scale, from);

	slice->ended += (uint32_t)sign;
	slice->gone += sign * bytes;
	slice = slice_of(history, scale, to);
	slice->change -= sign * bytes;
}

void mt_history_live(struct mt_history *history, struct mt_history_scale *scale, uint64_t from,
		     uint64_t to, double bytes)
{
	struct mt_history_slice *slice;

	mt_history_scale_reach(scale, from > to ? from : to);
	slice = slice_of(history, scale, from);
	slice->count++;
	slice->reserved += bytes;
	slice->change += bytes;
	if (!history->count++ || from < history->first)
		history->first = from;
	history->last = from > history->last ? from : history->last;
	if (to)
		add_end(history, scale, from, to, bytes, 1);
}

void mt_history_undo_end(struct mt_history *history, struct mt_history_scale *scale, uint64_t from,
			 uint64_t to, double bytes)
{
	add_end(history, scale, from, to, bytes, -1);
}

void mt_history_level(struct mt_history *history)
{
	double held = 0;

	history->held = history->peak = history->top = history->bottom = 0;
	history->falls = 0;
	history->fallen = false;
	for (size_t i = 0; i < history->slices.count; i++) {
		held += history->slices.items[i].change;
		history->peak = held > history->peak ? held : history->peak;
	}
	for (size_t i = 0; i < history->slices.count; i++) {
		history->held += history->slices.items[i].change;
		note_level(history);
	}
}

void mt_history_add(struct mt_history *history, const struct mt_history_scale *scale,
		    struct mt_history *other)
{
	if (!history->slices.count)
		history->shift = scale->shift;
	mt_history_settle(history, scale);
	mt_history_settle(other, scale);
	for (size_t i = 0; i < other->slices.count; i++) {
		struct mt_history_slice *slice = slice_at(history, other->slices.items[i].at);

		add_slice(slice, &other->slices.items[i]);
	}
	if (other->count && (!history->count || other->first < history->first))
		history->first = other->first;
	history->last = other->last > history->last ? other->last : history->last;
	history->count += other->count;
	history->grown += other->grown;
	history->grown_live += other->grown_live;
	history->resized += other->resized;
	history->replaced += other->replaced;
	history->held += other->held;
	history->peak += other->peak;
	history->falls = other->falls > history->falls ? other->falls : history->falls;
}

void mt_history_deinit(struct mt_history *history)
{
	mt_array_deinit(&history->slices);
}
