/*
 * Files from debuginfod servers, by build id: only where the user asks, through the library of
 * elfutils, which is loaded when it is needed. It keeps what it fetched, and for a while what was
 * not there, in its own cache.
 */
#ifndef MT_SYMBOLS_IMAGES_DEBUGINFOD_H
#define MT_SYMBOLS_IMAGES_DEBUGINFOD_H

#include "symbols/images/image.h"

struct mt_debuginfod;
struct mt_error;

/* Told, one line each, what is asked for, and what went wrong. */
struct mt_debuginfod_teller {
	void (*tell)(void *context, const char *line);
	void *context;
};

/*
 * Loads the library. urls are the servers, NULL: those of $DEBUGINFOD_URLS. Of kind MT_ERR_USAGE
 * where neither names one, or the library is not there. Changes the environment, where the library
 * reads them: to be called before there are threads. What teller points to is borrowed.
 */
struct mt_error *mt_debuginfod_create(const char *urls, struct mt_debuginfod_teller teller,
				      struct mt_debuginfod **out);
void mt_debuginfod_destroy(struct mt_debuginfod *debuginfod);

/*
 * Sources, whose context is a struct mt_debuginfod: files with symbols and lines; and the images
 * themselves. Not for two threads at once. Servers that fail or take too long are asked for nothing
 * more, and what they do not have is not asked for again.
 */
extern const struct mt_image_source mt_image_source_debuginfod;
extern const struct mt_image_source mt_image_source_debuginfod_images;

#endif
