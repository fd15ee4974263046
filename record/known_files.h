/*
 * The files behind executable mappings, by what a mapping says of them, and as many of them open as
 * there is room for: one that is removed, or whose process ends, can still be read.
 */
#ifndef MT_RECORD_KNOWN_FILES_H
#define MT_RECORD_KNOWN_FILES_H

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/record.h"
#include "record/mapped_file.h"

struct mt_image_identity;

struct mt_known_file {
	struct mt_mapped_file at;      /* its path is the list's, and a C string */
	struct mt_image_record record; /* path and build id are, too */
	int fd;			       /* -1: `at` says where to look */
};

struct mt_known_files { /* zero-initialised: empty */
	struct mt_map64 by_key;
	MT_ARRAY(struct mt_known_file) items;
	size_t open;
};

void mt_known_files_deinit(struct mt_known_files *files);

/* Adds one that is not known yet. fd is duplicated, as long as few are; it may be -1. */
void mt_known_files_add(struct mt_known_files *files, int fd, const struct mt_mapped_file *file,
			const struct mt_image_record *record);

/* The file of an image, until the next is added; NULL where it is not known. */
struct mt_known_file *mt_known_files_find(const struct mt_known_files *files,
					  const struct mt_image_identity *identity);

/* Takes its descriptor, or opens it; -1 with errno. The caller's. */
int mt_known_files_take(struct mt_known_files *files, struct mt_known_file *file);

#endif
