/*
 * The lines of a source file, for display. A file that is no text or too large is refused with a
 * reason.
 */
#ifndef MT_REPORT_OUTPUTS_ANNOTATE_SOURCE_FILE_H
#define MT_REPORT_OUTPUTS_ANNOTATE_SOURCE_FILE_H

#include <stddef.h>
#include <stdint.h>

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
	char **lines; /* count of them, in text; line 1 is the first */
	size_t count;
	uint64_t written; /* ns since 1970 */
	const char *why;  /* the reason why there is no text */
};

/*
 * Reads the file at a path as compiled:
 *
 * 1. the first pair of `paths` that fits replaces its beginning, and that file is read;
 * 2. below a directory of `paths`, by the path or its last parts;
 * 3. at an absolute path, if the file's real path is that of a source (main.c), and others may read
 *    it or it is this user's.
 *
 * Links of another user than root and this one are not followed.
 */
void mt_source_file_read(const char *path, const struct mt_source_paths *paths,
			 struct mt_source_file *out);
void mt_source_file_deinit(struct mt_source_file *file);

#endif
