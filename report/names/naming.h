/* The images of a report, the sources of their files, and the symbolizer. */
#ifndef MT_REPORT_NAMES_NAMING_H
#define MT_REPORT_NAMES_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/tables/code_text.h"

struct mt_carried;
struct mt_debuginfod;
struct mt_error;
struct mt_facts;
struct mt_frame_key;
struct mt_frames;
struct mt_image;
struct mt_image_record;
struct mt_image_set;
struct mt_jit_sources;
struct mt_kernel_names;
struct mt_map64;
struct mt_naming;
struct mt_symbol;

enum {
	MT_DIRECTORIES_MOST = 16,
};

/* Folders in the order of search; strings are borrowed. */
struct mt_directories {
	const char *items[MT_DIRECTORIES_MOST];
	size_t count;
};

struct mt_naming_options {
	/* kallsyms file to use for any boot; NULL: /proc/kallsyms for this boot. */
	const char *kallsyms;
	const struct mt_directories *symfs; /* roots to search first; borrowed */
	/* Folder to search after this machine's files, or NULL; borrowed. */
	const char *debug_dir;
	struct mt_debuginfod *debuginfod; /* used last; borrowed, or NULL */
	bool prefer_local;		  /* prefer this machine's files to carried ones */
	bool demangle;
	bool inlined; /* name inlined functions, too */
	bool lines;   /* also give source files and lines */
};

/* An unreadable options->kallsyms is an error; an unreadable /proc/kallsyms is not. */
struct mt_error *mt_naming_create(const struct mt_naming_options *options, struct mt_naming **out);
void mt_naming_destroy(struct mt_naming *naming);

/* Adds the images and names that a recording carries; borrowed. */
void mt_naming_add_carried(struct mt_naming *naming, size_t recording, struct mt_carried *carried);

/*
 * Starts another recording, treated as another host's until mt_naming_set_fact() gives facts that
 * match this host (keys "boot-id", "host", "kernel"). Files of this host are used for images
 * without a build id only if all recordings so far are from this host; the vdso of this host only
 * if the kernel's release matches, too.
 */
void mt_naming_begin(struct mt_naming *naming);
void mt_naming_set_fact(struct mt_naming *naming, const char *key, const char *value);

/* The names of the kernel's functions. Borrowed. */
struct mt_kernel_names *mt_naming_kernel(const struct mt_naming *naming);

/* The perf maps and jitdumps of the report. Borrowed. */
struct mt_jit_sources *mt_naming_jit(struct mt_naming *naming);

/* The reader of functions' code; a function is named by a frame's image and offset. Borrowed. */
struct mt_code_reader mt_naming_code(const struct mt_naming *naming);

/* The parts of an image that the recordings carry, as MT_KEPT_* bits; 0 if there are none. */
uint32_t mt_naming_kept(const struct mt_naming *naming, const struct mt_image *image);

/* The images of the report. Borrowed. */
struct mt_image_set *mt_naming_images(struct mt_naming *naming);

/* Adds what an image record says: build id, problem and start. */
void mt_naming_add_image(struct mt_naming *naming, const struct mt_image_record *record);

/* The symbol of a frame, for an mt_namer; its context is the struct mt_naming. */
const struct mt_symbol *mt_naming_name(void *naming, const struct mt_frame_key *key);

/*
 * Returns a problem with the debug information read so far and sets *path to its image's path; NULL
 * if there is none.
 */
const char *mt_naming_lines_problem(const struct mt_naming *naming, const char **path);

/*
 * Prints a line on this host's files that were rejected for another host's recording, and the lines
 * of mt_missing_names_print().
 */
void mt_naming_print_missing(const struct mt_naming *naming, const char *prefix, FILE *to);

/*
 * Adds images to the facts: with `frames` the images of frames, ordered by number of frames; else
 * all images mapped executable, which are the keys of `code`. Opens each image to see if it is
 * available.
 */
void mt_naming_list_images(struct mt_naming *naming, const struct mt_frames *frames,
			   const struct mt_map64 *code, struct mt_facts *facts);

#endif
