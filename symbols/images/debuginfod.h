/*
 * Files from debuginfod servers, by build id, only at the user's request. Loads elfutils' library
 * on first use. The library caches fetched files and, for a while, failures.
 */
#ifndef MT_SYMBOLS_IMAGES_DEBUGINFOD_H
#define MT_SYMBOLS_IMAGES_DEBUGINFOD_H

#include "symbols/images/image.h"

struct mt_debuginfod;
struct mt_error;

/* Receives a line of text for each request and for each failure. */
struct mt_debuginfod_teller {
	void (*deliver)(void *context, const char *line);
	void *context;
};

/*
 * Loads the library. urls lists the servers; NULL: $DEBUGINFOD_URLS. An error of kind MT_ERR_USAGE
 * if there are no servers or no library. Changes the environment, which the library reads, so call
 * before threads start. Borrows the context of teller.
 */
struct mt_error *mt_debuginfod_create(const char *urls, struct mt_debuginfod_teller teller,
				      struct mt_debuginfod **out);
void mt_debuginfod_destroy(struct mt_debuginfod *debuginfod);

/* True if a server can have files of an image: it has a build id that is not Go's. */
bool mt_debuginfod_may_know(struct mt_image *image);

/*
 * Sources with a struct mt_debuginfod as context: debug files, and the images themselves. Not
 * thread-safe. Servers that fail or time out are not asked again, and missing files are not
 * requested again.
 */
extern const struct mt_image_source mt_image_source_debuginfod;
extern const struct mt_image_source mt_image_source_debuginfod_images;

#endif
