/*
 * The files behind executable mappings, by what a mapping says of them, and as many of them open as
 * there is room for: one that is removed, or whose process ends, can still be read.
 */
#ifndef MT_RECORD_CARRY_KNOWN_FILES_H
#define MT_RECORD_CARRY_KNOWN_FILES_H

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/records/record.h"
#include "record/files/mapped_file.h"

struct mt_file_worker;
struct mt_image_identity;

struct mt_known_file {
	struct mt_mapped_file at;      /* its path is the list's, and a C string */
	struct mt_image_record record; /* path and build id are, too */
	int fd;			       /* -1: `at` says where to look */
	size_t next;		       /* of the same hash, + 1 */
};

struct mt_known_files {		 /* zero-initialised: empty */
	struct mt_map64 by_hash; /* to the last of it, + 1 */
	MT_ARRAY(struct mt_known_file) items;
	size_t open;
};

/* worker closes them, or NULL. */
void mt_known_files_deinit(struct mt_known_files *files, struct mt_file_worker *worker);

/* Adds one that is not known yet. fd is duplicated, as long as few are; it may be -1. */
void mt_known_files_add(struct mt_known_files *files, int fd, const struct mt_mapped_file *file,
			const struct mt_image_record *record);

/* The file of an image, until the next is added; NULL where it is not known. */
struct mt_known_file *mt_known_files_find(const struct mt_known_files *files,
					  const struct mt_image_identity *identity);

/* Takes its descriptor, or has worker, or NULL, open it; -1 with errno. The caller's. */
int mt_known_files_take(struct mt_known_files *files, struct mt_file_worker *worker,
			struct mt_known_file *file);

#endif
