/*
 * Copies a file of recordings chunk by chunk, with changes. Unchanged chunks keep their bytes and
 * their order. For commands that remove data from a recording or add to it.
 */
#ifndef MT_FORMATS_REWRITE_H
#define MT_FORMATS_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_block;
struct mt_error;
struct mt_record;
struct mt_writer;

/* Changes to each recording of the file. A NULL callback is skipped. */
struct mt_rewrite {
	void *context;
	/* A recording begins; its HEAD and STATE records follow. */
	struct mt_error *(*begin)(void *context, size_t recording);
	/*
	 * Called for each HEAD and STATE record before anything is copied. Also called for such
	 * records inside DATA (which apply from their position on) while DATA is copied.
	 */
	struct mt_error *(*statement)(void *context, const struct mt_record *record);
	/* Called after HEAD is copied: may write chunks that precede all others. */
	struct mt_error *(*head)(void *context, size_t recording, struct mt_writer *writer);
	/*
	 * Called for each KERNEL, SAMPLE, PACKED and FRAMES record: puts the replacement, or
	 * nothing, into the block. Setting *same and putting nothing keeps the record. False if the
	 * block is full.
	 */
	bool (*data)(void *context, const struct mt_record *record, struct mt_block *block,
		     bool *same);
	/* Called before END, or at the end of a recording without END: may write more chunks. */
	struct mt_error *(*finish)(void *context, size_t recording, struct mt_writer *writer);
};

struct mt_rewrite_counts {
	uint64_t read, written;	   /* bytes of the two files */
	uint64_t chunks;	   /* chunks read */
	uint64_t damaged, unknown; /* chunks left out */
	uint64_t records_left_out; /* damaged or unknown, in rewritten chunks */
};

/*
 * Copies the file at path to fd. Refuses perf.data and standard input with an error: the file is
 * read twice.
 */
struct mt_error *mt_rewrite_file(const char *path, int fd, const struct mt_rewrite *how,
				 struct mt_rewrite_counts *out);

#endif
