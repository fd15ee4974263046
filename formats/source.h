/*
 * The plug point of inputs: one table for each kind of file that mt_reader_open() reads. Each
 * source returns records as reader.h specifies: STATE first, then timed records in order. reader.c
 * probes the tables in turn.
 */
#ifndef MT_FORMATS_SOURCE_H
#define MT_FORMATS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_carried;
struct mt_error;
struct mt_input;
struct mt_reader_news;
struct mt_reader_options;
struct mt_record;
struct mt_recording;

#define MT_PROBE_SIZE ((size_t)64 << 10)

/* Errors carry no path: reader.c prepends it. */
struct mt_source_ops {
	const char *name;
	/*
	 * Whether a file that begins with these bytes is of this kind: MT_PROBE_SIZE, or the
	 * whole file.
	 */
	bool (*probe)(const uint8_t *head, size_t size);
	/*
	 * Borrows input until destroyed; memory_limit is set. *out is the `source` argument of the
	 * other functions, ready to read recording 0.
	 */
	struct mt_error *(*open)(const struct mt_input *input,
				 const struct mt_reader_options *options, void **out);
	void (*destroy)(void *source); /* NULL-safe */
	/* The functions below work as those of the same name in reader.h. */
	size_t (*recordings)(const void *source);
	const struct mt_recording *(*recording)(const void *source, size_t i);
	/* NULL: files of this kind carry nothing. */
	struct mt_carried *(*carried)(void *source, size_t i);
	struct mt_error *(*rewind)(void *source, size_t i);
	struct mt_error *(*next)(void *source, struct mt_record *out, bool *more);
	void (*release)(void *source, uint64_t serial);
	/* NULL: files of this kind are not read while they grow. */
	struct mt_error *(*advance)(void *source, struct mt_reader_news *out);
	void (*finish)(void *source);
	/* NULL: samples of this kind name no other events. */
	uint32_t (*event_of_id)(const void *source, uint64_t id);
};

extern const struct mt_source_ops mt_source_recording; /* mtrec's; probes true for any file */
extern const struct mt_source_ops mt_source_perfdata;
extern const struct mt_source_ops mt_source_text; /* folded stacks */

#endif
