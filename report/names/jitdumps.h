/*
 * Code that no file holds, told of by jitdumps (jit-PID.dump): those that recordings carry and
 * those of this machine, an image for each, and the names and lines in them.
 */
#ifndef MT_REPORT_NAMES_JITDUMPS_H
#define MT_REPORT_NAMES_JITDUMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_carried;
struct mt_directories;
struct mt_facts;
struct mt_file_record;
struct mt_image;
struct mt_image_identity;
struct mt_image_set;
struct mt_jitdumps;
struct mt_symbol;

struct mt_jitdumps_options {
	struct mt_image_set *images;	    /* borrowed */
	const struct mt_directories *symfs; /* where to look instead: borrowed */
	bool prefer_local;		    /* this machine's files before carried ones */
	bool demangle;
	bool lines;
};

/* NULL out of memory. */
struct mt_jitdumps *mt_jitdumps_create(const struct mt_jitdumps_options *options);
void mt_jitdumps_destroy(struct mt_jitdumps *dumps);

/* Adds what the recording of that number carries, borrowed. False out of memory. */
bool mt_jitdumps_add(struct mt_jitdumps *dumps, size_t recording, struct mt_carried *carried);

/* A jitdump that a process maps. */
struct mt_jitdump_wanted {
	size_t recording;
	const struct mt_image_identity *identity; /* as it is mapped */
	uint64_t time;				  /* when */
	const int64_t *ahead;	 /* of CLOCK_MONOTONIC is the recording's clock; NULL: not known */
	struct mt_image *untold; /* the image of what the dump does not tell of, or NULL */
};

/*
 * The image that stands for what it tells of, its ->jitdump set; NULL where it is not at hand. Of
 * the carried ones the first that was read later; then the file of this machine, where it is the
 * one that was mapped and another may not have written it.
 */
struct mt_image *mt_jitdumps_image(struct mt_jitdumps *dumps,
				   const struct mt_jitdump_wanted *wanted);

/* The symbol at a place in such an image, until the next call; NULL where the image is another. */
const struct mt_symbol *mt_jitdumps_name(struct mt_jitdumps *dumps, const struct mt_image *image,
					 uint64_t place);

/*
 * The bytes behind such an image where they are this machine's, and the recording carries none of
 * it; else NULL. Borrowed. Sets the fields of *file that tell which it is.
 */
const uint8_t *mt_jitdumps_local(const struct mt_jitdumps *dumps, size_t recording,
				 const struct mt_image *image, struct mt_file_record *file);

/* Lists those that were asked for. False out of memory. */
bool mt_jitdumps_list(const struct mt_jitdumps *dumps, struct mt_facts *facts);

#endif
