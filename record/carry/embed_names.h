/*
 * Names on their way into FILE chunks: the kernel's around addresses of samples, and those that
 * processes tell of code that they made (perf maps, jitdumps). As they grow, and at the end. Used
 * by the carrying thread alone. Files are read in slices, so memory is bounded whatever their size.
 */
#ifndef MT_RECORD_CARRY_EMBED_NAMES_H
#define MT_RECORD_CARRY_EMBED_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/carried/skeleton.h"

struct mt_embed_names;
struct mt_file_worker;
struct mt_file_record;
struct mt_mapped_file;
struct mt_text;

/* Where it goes. */
struct mt_embed_names_sink {
	void *context;
	/* file->size bytes of content; false where there is no more room, which is told. */
	bool (*put)(void *context, uint64_t time, const struct mt_file_record *file,
		    const uint8_t *bytes);
	void (*problem)(void *context, const struct mt_text *path, const char *problem);
};

/* What samples told of the kernel since the last time; the addresses rise, and are taken. */
struct mt_kernel_news {
	uint64_t *addresses; /* NULL: nothing */
	size_t count;
	bool all; /* there were too many to keep */
};

/* worker, who opens and reads files, is borrowed. NULL out of memory. */
struct mt_embed_names *mt_embed_names_create(const struct mt_skeleton_wish *wish,
					     const struct mt_embed_names_sink *sink,
					     struct mt_file_worker *worker);
void mt_embed_names_destroy(struct mt_embed_names *names);

/* A process has a sample, or, where exec_time is not 0, becomes another program then. */
void mt_embed_names_see_process(struct mt_embed_names *names, int32_t pid, uint64_t exec_time);

/* A process with a sample maps a jitdump; takes fd. */
void mt_embed_names_see_jitdump(struct mt_embed_names *names, int fd,
				const struct mt_mapped_file *file);

/* Whether it is time to look for news. */
bool mt_embed_names_is_due(const struct mt_embed_names *names);

/* Addresses of the kernel's, to be named with what comes next; takes them. */
void mt_embed_names_see_kernel(struct mt_embed_names *names, struct mt_kernel_news *news);

/* What has been named by `now`, on the recording's clock. */
void mt_embed_names_so_far(struct mt_embed_names *names, uint64_t now);

/* The same at the end. */
void mt_embed_names_rest(struct mt_embed_names *names, uint64_t now);

#endif
