/*
 * The lines of a source file, for display. A file that is too large or is not text is refused with
 * a reason.
 */
#ifndef MT_REPORT_OUTPUTS_ANNOTATE_SOURCE_FILE_H
#define MT_REPORT_OUTPUTS_ANNOTATE_SOURCE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_places;

/* --source-path FROM=TO: the beginning of a path, and its replacement. Borrowed. */
struct mt_source_path {
	const char *from, *to;
	size_t from_size;
};

enum {
	MT_SOURCE_PATHS_MOST = 16,
};

/* The user's source directories and replacements. */
struct mt_source_paths {
	struct mt_source_path items[MT_SOURCE_PATHS_MOST];
	size_t count;
	const char *directories[MT_SOURCE_PATHS_MOST]; /* --source DIR */
	size_t directory_count;
};

struct mt_source_file {
	char *path;   /* path that was tried */
	char *text;   /* NUL-terminated; NULL: see why */
	char **lines; /* `count` lines, inside text; lines[0] is line 1 */
	size_t count;
	uint64_t written; /* ns since 1970 */
	const char *why;  /* the reason why there is no text */
};

/*
 * Reads the file that was compiled at `path`. Looks for it in this order:
 *
 * 1. at the path with its beginning replaced, by the first pair of `paths` that matches;
 * 2. below a directory of `paths`, by the path or its last parts;
 * 3. at an absolute path, if the file's real path is that of a source (main.c), and others may read
 *    it or it is this user's.
 *
 * Symbolic links are followed only if root or this user owns them.
 */
void mt_source_file_read(const char *path, const struct mt_source_paths *paths,
			 struct mt_source_file *out);
void mt_source_file_deinit(struct mt_source_file *file);

/* Lines of the places of stacks, with the lines around them, as far as this host has the files. */
struct mt_source_line {
	uint32_t file, line; /* file: id of a text of the places; lines count from 1 */
	char *text;	     /* UTF-8, without tabs */
};

struct mt_source_lines {
	MT_ARRAY(struct mt_source_line) lines; /* by file and line */
	MT_ARRAY(uint32_t) changed;	       /* files written after the recording */
	size_t left;			       /* places whose lines had no room */
	size_t used;			       /* bytes of all texts */
};

/*
 * Adds the lines to `lines`, zeroed before. `recorded` is the time of the recording in ns since
 * 1970, or 0. Only files with the name of a source are read, because the lines end up in a page
 * that may be passed on.
 */
void mt_source_lines_read(struct mt_source_lines *lines, const struct mt_places *places,
			  const struct mt_source_paths *paths, uint64_t recorded);
void mt_source_lines_deinit(struct mt_source_lines *lines);

#endif
