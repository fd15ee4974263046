/*
 * A stream copies records from one ring to blocks: it truncates dumps to their valid bytes, codes
 * them, and counts records and losses. One thread at a time holds a stream: the drain of its CPU,
 * or a buddy, the drain of another CPU.
 */
#ifndef MT_RECORD_RINGS_STREAM_H
#define MT_RECORD_RINGS_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/records/events.h"

struct mt_prefault;
struct mt_map64;
struct mt_plan;
struct mt_ring;
struct mt_spool;
struct mt_stream;
struct mt_task_filter;
struct mt_wake_thread;

/* Configuration shared by all streams: borrowed, constant while streams run. */
struct mt_stream_config {
	const struct mt_plan *plan;
	/* Kernel event id -> index in the plan. The map may be replaced; old maps stay valid. */
	_Atomic(struct mt_map64 *) const *ids;
	struct mt_spool *spool;
	/* Level of the enabled variant, by index of the full event; changes while streams run. */
	const _Atomic int *levels;
	struct mt_task_filter *filter; /* chooses tasks; NULL: samples of all tasks are kept */
	struct mt_prefault
		*prefault; /* receives the dumps that the kernel ended early, or is NULL */
	unsigned images;   /* stack images of each stream, 64 KiB each */
	struct mt_wake_thread *ahead; /* woken when a stream needs more images */
	pid_t self;		      /* the recorder, whose samples are dropped */
};

struct mt_stream_counts {
	uint64_t samples;   /* samples of role-0 events, put into blocks */
	uint64_t records;   /* all records put into blocks */
	uint64_t raw_bytes; /* bytes of these records as the kernel wrote them */
	uint64_t lost;	    /* records lost, by the kernel's LOST records */
	uint64_t own;	    /* samples of the recorder itself, dropped */
	uint64_t left_out;  /* samples dropped by the task filter */
	uint64_t coded;	    /* bytes put into blocks */
	uint64_t passes;    /* passes that found records */
	uint64_t ring_peak; /* most bytes in the ring at a pass; sums keep the maximum */
	uint64_t malformed; /* invalid records */
	uint64_t stalls;    /* passes that found no free block */
	uint64_t helped;    /* passes by a buddy */
	unsigned images;    /* stack images allocated; sums keep the maximum */
};

enum mt_stream_result {
	MT_STREAM_EMPTY,      /* the ring is empty */
	MT_STREAM_MORE,	      /* stopped at the limit of a pass */
	MT_STREAM_STALLED,    /* no block was free; the remainder stays in the ring */
	MT_STREAM_UNREPORTED, /* the filter does not know a thread yet; the remainder stays in the
			       * ring
			       */
};

/* Borrows ring and config. number: of the stream in the recording. NULL out of memory. */
struct mt_stream *mt_stream_create(struct mt_ring *ring, uint32_t number, enum mt_event_class class,
				   const struct mt_stream_config *config);
void mt_stream_destroy(struct mt_stream *stream);

/*
 * Sets the function that is called before `stream` pushes a block. It must call mt_stream_notify()
 * for the streams with the maps and names that the samples need, so that a file that is cut there
 * has them.
 */
void mt_stream_before(struct mt_stream *stream, void (*before)(void *context), void *context);

/*
 * Pushes the records of `stream` that samples of other rings need, after draining a share of its
 * ring. The kernel wrote them on the CPU where a thread ran before. Never waits: if another thread
 * holds the stream, that thread will push them.
 */
void mt_stream_notify(struct mt_stream *stream);

/*
 * Sets the function that is called before records of `stream` are drained. The function passes all
 * earlier records of every ring to the filter. If it returns false, the records stay in the ring:
 * MT_STREAM_UNREPORTED.
 */
void mt_stream_set_listener(struct mt_stream *stream, bool (*listener)(void *context),
			    void *context);

/*
 * Drains until the ring is empty. Spins while a buddy holds the stream, which takes microseconds.
 */
enum mt_stream_result mt_stream_drain(struct mt_stream *stream);

/*
 * True if the ring has a buddy's share (128 KiB) or more. True if the ring is a quarter full with
 * at least 4 MiB, or a smaller ring is half full.
 */
bool mt_stream_worth_help(const struct mt_stream *stream);
bool mt_stream_pressing(const struct mt_stream *stream);

/* Bytes that the kernel has written into the ring so far. */
uint64_t mt_stream_written(const struct mt_stream *stream);

/*
 * Drains a share as a buddy. MT_STREAM_EMPTY if the ring has less than a share, or another thread
 * holds the stream.
 */
enum mt_stream_result mt_stream_help(struct mt_stream *stream);

/*
 * Pushes the block being filled, and LOSS records since the last flush. False if there was no free
 * block for these: call again.
 */
bool mt_stream_flush(struct mt_stream *stream);

/* Allocates the stack images that are needed now. Call on a thread that does not drain. */
void mt_stream_grow(struct mt_stream *stream);

/* The fd to poll for a ring that has reached its watermark. */
int mt_stream_fd(const struct mt_stream *stream);

/*
 * Number of samples of one event (index in the plan) so far, including the recorder's own samples.
 * Callable at any time.
 */
uint64_t mt_stream_event_samples(const struct mt_stream *stream, uint32_t event);

/* Adds the counts so far. Callable at any time. */
void mt_stream_add_counts(const struct mt_stream *stream, struct mt_stream_counts *sum);

#endif
