/*
 * The registry of images. It has an entry for each device, inode and path that targets map as
 * executable, with the build id after the file was read. It keeps files open up to a limit, so that
 * they can still be read after they were deleted or their process ended.
 *
 * Only the writing thread uses the registry. A struct mt_image_file keeps its address until the
 * registry is destroyed. If `known` is set, `at`, `size` and `build_id` do not change any more, and
 * the carrying thread may read them.
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
	struct mt_mapped_file at; /* its first mapping; the registry owns the path, a C string */
	uint64_t size;		  /* bytes of the file; 0 until it was read */
	struct mt_text build_id;
	uint32_t number; /* from 1 on, in the order in which files were first mapped */
	uint32_t next;	 /* number of the next file of the same hash; 0: none */
	uint32_t places; /* its number in sampled_places.h; 0: none */
	int fd;		 /* -1: not kept open */
	bool asked;	 /* the file worker was asked to read the file and has not answered yet */
	bool known;	 /* the file was read and can be carried */
	bool elsewhere;	 /* mt_mapped_file_is_elsewhere() */
	bool chosen;	 /* the file is to be carried, see image_choice.h */
};

/* Borrows worker, which closes files (NULL: closed at once). Returns NULL out of memory. */
struct mt_image_files *mt_image_files_create(struct mt_file_worker *worker);
void mt_image_files_destroy(struct mt_image_files *files);

/*
 * Returns the file of a mapping. Adds it if it is new, and then sets *added. NULL if memory or
 * numbers run out.
 */
struct mt_image_file *mt_image_files_get(struct mt_image_files *files,
					 const struct mt_mapped_file *mapping, bool *added);

/*
 * Finds a file without regard to the inode generation. Returns the latest file of that identity, or
 * NULL.
 */
struct mt_image_file *mt_image_files_find(const struct mt_image_files *files,
					  const struct mt_image_identity *identity);

/* Returns the file with a number of mt_image_files_get(). */
struct mt_image_file *mt_image_files_at(const struct mt_image_files *files, uint32_t number);

/* Sets `known`. Takes ownership of fd (-1: none), and copies size and build id from the record. */
void mt_image_files_know(struct mt_image_files *files, struct mt_image_file *file, int fd,
			 const struct mt_image_record *record);

/* Keeps a chosen file open from the moment when it is offered to the carrying thread. */
void mt_image_files_keep_chosen(struct mt_image_files *files, struct mt_image_file *file);

/* Returns the IMAGE record of the file, which borrows the file's strings. */
struct mt_image_record mt_image_file_record(const struct mt_image_file *file);

/*
 * Duplicates the file's descriptor, or else opens the file through worker (may be NULL). -1 with
 * errno.
 */
int mt_image_file_open(const struct mt_image_file *file, struct mt_file_worker *worker);

#endif
