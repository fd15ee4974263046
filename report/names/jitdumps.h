/*
 * Names and lines of generated code from jitdumps (jit-PID.dump), carried or on this machine; each
 * jitdump is an image.
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
	const struct mt_directories *symfs; /* roots to search instead; borrowed */
	bool prefer_local;		    /* prefer this machine's files to carried ones */
	bool demangle;
	bool lines;
};

/* NULL out of memory. */
struct mt_jitdumps *mt_jitdumps_create(const struct mt_jitdumps_options *options);
void mt_jitdumps_destroy(struct mt_jitdumps *dumps);

/* Adds what a recording carries; borrowed. False out of memory. */
bool mt_jitdumps_add(struct mt_jitdumps *dumps, size_t recording, struct mt_carried *carried);

/* A jitdump mapped by a process. */
struct mt_jitdump_wanted {
	size_t recording;
	const struct mt_image_identity *identity; /* identity of the mapped file */
	uint64_t time;				  /* time of the mapping */
	/* Recording's clock minus CLOCK_MONOTONIC in ns; NULL: unknown. */
	const int64_t *ahead;
	/* The image for code that the jitdump does not describe, or NULL. */
	struct mt_image *untold;
};

/*
 * The image of a jitdump, with ->jitdump set; NULL if not available. It is the first carried
 * jitdump read later, else this machine's file; prefer_local reverses this. The file must be owned
 * by root or the caller, and be the mapped one unless symfs is given.
 */
struct mt_image *mt_jitdumps_image(struct mt_jitdumps *dumps,
				   const struct mt_jitdump_wanted *wanted);

/* The symbol at a place in such an image, valid until the next call; NULL for other images. */
const struct mt_symbol *mt_jitdumps_name(struct mt_jitdumps *dumps, const struct mt_image *image,
					 uint64_t place);

/*
 * The bytes of such an image if they are this machine's, and the recording does not carry the
 * jitdump; else NULL. Borrowed. Sets the identity fields of *file.
 */
const uint8_t *mt_jitdumps_local(const struct mt_jitdumps *dumps, size_t recording,
				 const struct mt_image *image, struct mt_file_record *file);

/* Adds the jitdumps used to the facts. False out of memory. */
bool mt_jitdumps_list(const struct mt_jitdumps *dumps, struct mt_facts *facts);

#endif
