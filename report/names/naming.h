/*
 * The images of a report and the names of what is in them: where image files come from, and the
 * symbolizer behind them.
 */
#ifndef MT_REPORT_NAMES_NAMING_H
#define MT_REPORT_NAMES_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mt_carried;
struct mt_debuginfod;
struct mt_error;
struct mt_facts;
struct mt_frame_key;
struct mt_frames;
struct mt_image;
struct mt_image_record;
struct mt_image_set;
struct mt_jitdumps;
struct mt_kernel_names;
struct mt_map64;
struct mt_naming;
struct mt_pool;
struct mt_symbol;

enum {
	MT_DIRECTORIES_MOST = 16,
};

/* In the order in which they are tried; strings are borrowed. */
struct mt_directories {
	const char *items[MT_DIRECTORIES_MOST];
	size_t count;
};

struct mt_naming_options {
	const char *kallsyms; /* a file to take kernel symbols from whatever the boot; NULL:
				 /proc/kallsyms for this boot */
	const struct mt_directories *symfs; /* where to look for files first: borrowed */
	const char *debug_dir; /* one to look in after this machine's files; the same, or NULL */
	struct mt_debuginfod *debuginfod; /* asked last: borrowed, or NULL */
	struct mt_pool *pool;		  /* reads debug information: borrowed */
	bool prefer_local; /* this machine's files before those that the recording carries */
	bool demangle;
	bool inlined; /* name the functions that were inlined, too */
	bool lines;   /* give files and lines */
};

/*
 * A kallsyms file that was asked for and cannot be read is an error; /proc/kallsyms failing is not.
 */
struct mt_error *mt_naming_create(const struct mt_naming_options *options, struct mt_naming **out);
void mt_naming_destroy(struct mt_naming *naming);

/* What the recording of that number carries; borrowed. False out of memory. */
bool mt_naming_add_carried(struct mt_naming *naming, size_t recording, struct mt_carried *carried);

/*
 * Another recording is read from now on: of another host, until told its name and its kernel's
 * release (a fact of `key`). Of files without a recorded build id, those of this host count only
 * where all recordings so far are its own, and its vdso where the release is the same, too.
 */
void mt_naming_begin(struct mt_naming *naming);
void mt_naming_tell(struct mt_naming *naming, const char *key, const char *value);

/* Borrowed. */
struct mt_kernel_names *mt_naming_kernel(const struct mt_naming *naming);

/* What stands for a process' anonymous code, or NULL; mt_jit_names_image(). */
struct mt_image *mt_naming_jit_image(struct mt_naming *naming, size_t recording, int64_t since,
				     int32_t pid, uint64_t time);

/* Those that processes told of their own code in. Borrowed. */
struct mt_jitdumps *mt_naming_jitdumps(struct mt_naming *naming);

/* What the recordings carry of an image, MT_KEPT_*; 0: nothing. */
uint32_t mt_naming_kept(const struct mt_naming *naming, const struct mt_image *image);

/* mt_jit_names_local_text(). */
const uint8_t *mt_naming_local_text(const struct mt_naming *naming, size_t recording,
				    uint32_t image, int32_t *pid, size_t *size);

/* Borrowed. */
struct mt_image_set *mt_naming_images(struct mt_naming *naming);

/* What a recording says about an image. False out of memory. */
bool mt_naming_add_image(struct mt_naming *naming, const struct mt_image_record *record);

/* The functions of a mt_namer, with the naming as context. */
const struct mt_symbol *mt_naming_name(void *naming, const struct mt_frame_key *key);
void mt_naming_prepare(void *naming, uint32_t image, const uint64_t *offsets, size_t count);

/*
 * What was wrong with the debug information of an image so far, and which image; NULL where nothing
 * was.
 */
const char *mt_naming_lines_problem(const struct mt_naming *naming, const char **path);

/*
 * A line on files of this host that were not taken for those of another, and those on images that
 * are without names, see missing_names.h.
 */
void mt_naming_print_missing(const struct mt_naming *naming, const char *prefix, FILE *to);

/*
 * Lists the images in facts: with frames, those that a frame lies in, by number of frames; without,
 * all files mapped executable, whose ids are the keys of `code`. Opens each to see whether it is at
 * hand.
 */
struct mt_error *mt_naming_list_images(struct mt_naming *naming, const struct mt_frames *frames,
				       const struct mt_map64 *code, struct mt_facts *facts);

#endif
