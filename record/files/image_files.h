/*
 * The registry of images: each file that targets map executable stands in it once, by what a
 * mapping says of it, with its build id once it was read. As many files are kept open as there is
 * room for: one that is removed, or whose process ends, can still be read.
 *
 * The registry is the writing thread's. A file keeps its address until the registry is destroyed,
 * and `at`, `size` and `build_id` of one that is `known` do not change: these may be read by the
 * carrying thread.
 */
#ifndef MT_RECORD_FILES_IMAGE_FILES_H
#define MT_RECORD_FILES_IMAGE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/records/record.h"
#include "record/files/mapped_file.h"

struct mt_file_worker;
struct mt_image_files;
struct mt_image_identity;

struct mt_image_file {
	struct mt_mapped_file at; /* its first mapping; the path is a C string, the registry's */
	uint64_t size;		  /* in bytes; 0 until it was read */
	struct mt_text build_id;
	uint32_t number; /* from 1 on, in the order in which files were first mapped */
	uint32_t next;	 /* number of the next file of the same hash; 0: none */
	uint32_t places; /* its number in sampled_places.h; 0: none */
	int fd;		 /* -1: not kept open */
	bool asked;	 /* it is being read: the answer is to come */
	bool known;	 /* it was read, and can be carried */
	bool chosen;	 /* it is to be carried (image_choice.h) */
};

/* Borrows worker, which closes files; NULL: they are closed at once. NULL out of memory. */
struct mt_image_files *mt_image_files_create(struct mt_file_worker *worker);
void mt_image_files_destroy(struct mt_image_files *files);

/* The file of a mapping, added where it is new (*added). NULL out of memory, or of numbers. */
struct mt_image_file *mt_image_files_get(struct mt_image_files *files,
					 const struct mt_mapped_file *mapping, bool *added);

/* The same for who has no inode generation: the latest such file; NULL where there is none. */
struct mt_image_file *mt_image_files_find(const struct mt_image_files *files,
					  const struct mt_image_identity *identity);

/* The file of a number that mt_image_files_get() gave. */
struct mt_image_file *mt_image_files_at(const struct mt_image_files *files, uint32_t number);

/* The file was read: takes fd, which may be -1, and copies size and build id of the record. */
void mt_image_files_know(struct mt_image_files *files, struct mt_image_file *file, int fd,
			 const struct mt_image_record *record);

/* A chosen file was offered: from now on it is one of the chosen files that are kept open. */
void mt_image_files_keep_chosen(struct mt_image_files *files, struct mt_image_file *file);

/* What an IMAGE record says of it; borrows its strings. */
struct mt_image_record mt_image_file_record(const struct mt_image_file *file);

/* A descriptor, the caller's: a duplicate, or opened by worker, or NULL. -1 with errno. */
int mt_image_file_open(const struct mt_image_file *file, struct mt_file_worker *worker);

#endif
