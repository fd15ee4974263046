/*
 * From one ring to blocks: takes records, cuts dumps to their valid bytes and codes them, counts,
 * and notes what was lost. Whoever holds the stream drains it: its own thread, or a buddy on
 * another CPU.
 */
#ifndef MT_RECORD_RINGS_STREAM_H
#define MT_RECORD_RINGS_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/events.h"

struct mt_ahead;
struct mt_heal;
struct mt_map64;
struct mt_plan;
struct mt_ring;
struct mt_spool;
struct mt_stream;
struct mt_task_filter;

/* What all streams share; borrowed, and constant while they run. */
struct mt_stream_config {
	const struct mt_plan *plan;
	/* kernel event id -> index in the plan; another one under way, this one stays */
	_Atomic(struct mt_map64 *) const *ids;
	struct mt_spool *spool;
	/* by index in the plan: which twin of a full event is on; changes under way */
	const _Atomic int *levels;
	struct mt_task_filter *filter; /* whose samples are kept; NULL: everybody's */
	struct mt_heal *heal;	/* told of dumps that the kernel ended early; NULL: nobody is */
	unsigned images;	/* threads whose last stack a stream remembers, 64 KiB each */
	struct mt_ahead *ahead; /* asked when a stream wants to grow */
	pid_t self;		/* its samples are dropped: the recorder does not record itself */
};

struct mt_stream_counts {
	uint64_t samples;   /* of events of role sample, passed on */
	uint64_t records;   /* all, passed on */
	uint64_t raw_bytes; /* as the kernel wrote them */
	uint64_t lost;	    /* told by LOST records */
	uint64_t own;	    /* the recorder's own samples, dropped */
	uint64_t left_out;  /* samples that --comm or -u drops */
	uint64_t coded;	    /* bytes put into blocks */
	uint64_t passes;    /* drains of its ring that found something */
	uint64_t ring_peak; /* most bytes that a pass found in its ring; of all streams, the most */
	uint64_t odd;	    /* records that made no sense */
	uint64_t stalls;    /* passes that found no free block */
	uint64_t helped;    /* passes by a buddy */
	unsigned images;    /* of stacks, that have memory; of all streams, the most */
};

enum mt_stream_result {
	MT_STREAM_EMPTY,   /* the ring is */
	MT_STREAM_MORE,	   /* stopped at the limit */
	MT_STREAM_STALLED, /* no block was free; the remainder stays in the ring */
	MT_STREAM_UNTOLD,  /* the filter does not know a thread yet; the remainder stays */
};

/* Borrows ring and config. number is the stream's in the recording. NULL out of memory. */
struct mt_stream *mt_stream_create(struct mt_ring *ring, uint32_t number, enum mt_event_class class,
				   const struct mt_stream_config *config);
void mt_stream_destroy(struct mt_stream *stream);

/*
 * Whenever `stream` hands a block on, `before` is called first: it is to call mt_stream_tell() for
 * the streams that have the maps and names which the samples need, so that a file that is cut there
 * has them.
 */
void mt_stream_before(struct mt_stream *stream, void (*before)(void *context), void *context);

/*
 * Hands on what `stream` has that samples of other rings need: takes a share out of its ring, too,
 * for the kernel wrote it where a thread ran before it came to another CPU. Never waits: who holds
 * the stream is about to do so, or soon will.
 */
void mt_stream_tell(struct mt_stream *stream);

/*
 * Whenever records of `stream` are about to be taken, `hear` is called first: what was recorded
 * before them, in whichever ring, is known to the filter then. Where it says false they are not
 * taken yet: MT_STREAM_UNTOLD.
 */
void mt_stream_hear(struct mt_stream *stream, bool (*hear)(void *context), void *context);

/*
 * Drains until the ring is empty, waiting (spinning: it is held for microseconds) for a buddy that
 * holds it.
 */
enum mt_stream_result mt_stream_drain(struct mt_stream *stream);

/*
 * A buddy's share, 128 KiB, or more waits in the ring; a quarter of the ring and 4 MiB or more, or
 * half of a smaller one.
 */
bool mt_stream_worth_help(const struct mt_stream *stream);
bool mt_stream_pressing(const struct mt_stream *stream);

/* Bytes that the kernel has written into the ring so far. */
uint64_t mt_stream_written(const struct mt_stream *stream);

/*
 * A buddy's part: takes a share out of the ring. MT_STREAM_EMPTY where less than that waits, or
 * somebody holds the ring.
 */
enum mt_stream_result mt_stream_help(struct mt_stream *stream);

/*
 * Hands on the block begun, and the losses noted since the last time; false where no block was free
 * for these: to be called again.
 */
bool mt_stream_flush(struct mt_stream *stream);

/*
 * Gets the memory for stack images from the system that is wanted now, on another thread than who
 * drains.
 */
void mt_stream_grow(struct mt_stream *stream);

/* The fd to poll for a ring that has reached its watermark. */
int mt_stream_fd(const struct mt_stream *stream);

/*
 * Samples of one event (index in the plan) so far, the recorder's own too; may be asked at any
 * time.
 */
uint64_t mt_stream_event_samples(const struct mt_stream *stream, uint32_t event);

/* Adds what has passed through so far; may be asked at any time. */
void mt_stream_add_counts(const struct mt_stream *stream, struct mt_stream_counts *sum);

#endif
