/*
 * Copying a file of recordings chunk by chunk into another: what is not changed is the same bytes,
 * in the same order. For those who take something out of a recording, or add to it.
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

/* What to do with each recording of the file; what is NULL is not done. */
struct mt_rewrite {
	void *context;
	/* A recording begins: its HEAD and STATE records are about to be told. */
	struct mt_error *(*begin)(void *context, size_t recording);
	/*
	 * Each of them, before anything is copied; such records in DATA, which hold from their
	 * place on, when they are copied.
	 */
	struct mt_error *(*statement)(void *context, const struct mt_record *record);
	/* Behind the copied HEAD: may write further chunks, which then count before others. */
	struct mt_error *(*head)(void *context, size_t recording, struct mt_writer *writer);
	/*
	 * Each KERNEL, SAMPLE and FRAMES record: puts what stands for it, or nothing, into the
	 * block. *same, with nothing put, leaves it as it is. False where the block is full.
	 */
	bool (*data)(void *context, const struct mt_record *record, struct mt_block *block,
		     bool *same);
	/* Before the recording's END, or where it should be: may write further chunks. */
	struct mt_error *(*finish)(void *context, size_t recording, struct mt_writer *writer);
};

struct mt_rewrite_counts {
	uint64_t read, written; /* bytes of the files */
	uint64_t chunks;	/* read; of them were left out: */
	uint64_t damaged, unknown;
	uint64_t records_left_out; /* damaged or not known, in chunks that were rewritten */
};

/*
 * Copies the file at path to fd. A perf.data file, and standard input, are errors: it is read
 * twice.
 */
struct mt_error *mt_rewrite_file(const char *path, int fd, const struct mt_rewrite *how,
				 struct mt_rewrite_counts *out);

#endif
