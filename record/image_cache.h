/*
 * What was made of images before, on this host's disk: their FILE chunks, ready to be written. The
 * first recording of a program pays for reading and compressing what its stacks need; the next ones
 * find it, as long as the file is the same one, unchanged, and so is the recorder.
 *
 * A folder that nobody else may write to, bounded in size, the least recently used going first. It
 * is only ever a copy: whatever is wrong with it, the image is read instead. One thread at a time.
 */
#ifndef MT_RECORD_IMAGE_CACHE_H
#define MT_RECORD_IMAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "record/file_chunks.h"
#include "symbols/skeleton.h"

#define MT_IMAGE_CACHE_NONE "none"

struct mt_error;
struct mt_file_record;
struct mt_image_cache;

enum mt_image_cache_found {
	MT_CACHE_MISS,	  /* what is made now may be added */
	MT_CACHE_DONE,	  /* all of it was handed on */
	MT_CACHE_REFUSED, /* the sink did not want all of it */
};

/*
 * dir NULL: $XDG_CACHE_HOME/mtrec, else /var/cache/mtrec for root and ~/.cache/mtrec for others. An
 * error where the folder cannot be had or is not safe.
 */
struct mt_error *mt_image_cache_open(const char *dir, struct mt_image_cache **out);

/* Keeps the folder within its bound. NULL-safe. */
void mt_image_cache_close(struct mt_image_cache *cache);

/*
 * Hands on what is there of the file behind fd, of such a wish and to be carried under those names;
 * begins to keep it where nothing is. With cache NULL nothing ever is.
 */
enum mt_image_cache_found mt_image_cache_find(struct mt_image_cache *cache, int fd,
					      const struct mt_skeleton_wish *wish,
					      const struct mt_file_record *file,
					      const struct mt_file_chunk_sink *sink);

/* A chunk of what is being kept, if anything is. */
void mt_image_cache_add(struct mt_image_cache *cache, const struct mt_file_chunk *chunk);

/* That was all of it; or it is not to be kept after all. */
void mt_image_cache_end(struct mt_image_cache *cache, bool whole);

/* The folder, where other copies may stand; -1 with cache NULL. */
int mt_image_cache_dir(const struct mt_image_cache *cache);

/* Images found so far. */
size_t mt_image_cache_hits(const struct mt_image_cache *cache);

#endif
