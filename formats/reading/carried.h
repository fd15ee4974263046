/*
 * The files that a recording carries: its FILE chunks (FORMAT.md section 8). A content is the data
 * of one such file. Opening a recording lists the fields of all contents; the bytes of a content
 * are read, checked and unpacked on first use.
 *
 * Thread-safe, except mt_carried_destroy().
 */
#ifndef MT_FORMATS_READING_CARRIED_H
#define MT_FORMATS_READING_CARRIED_H

#include <stddef.h>
#include <stdint.h>

#include "formats/records/record.h"

struct mt_carried;
struct mt_chunk_ref;
struct mt_error;
struct mt_input;

/*
 * Lists the contents of the FILE chunks, each once; damaged and unknown ones are left out. Borrows
 * input and refs until destroyed.
 */
struct mt_error *mt_carried_create(const struct mt_input *input, const struct mt_chunk_ref *refs,
				   size_t count, struct mt_carried **out);
void mt_carried_destroy(struct mt_carried *carried);

/* Number of contents. The pieces of a file that grew while it was recorded are one content. */
size_t mt_carried_count(const struct mt_carried *carried);

/* The fields of content i: part is 0, bytes empty. Borrowed until destroyed, like its strings. */
const struct mt_file_record *mt_carried_get(const struct mt_carried *carried, size_t i);

/*
 * The time in the content's record; for kinds 4 and 5 the time at which the file was read. For a
 * content in pieces, the time of the last piece; UINT64_MAX if the last piece says that another one
 * follows.
 */
uint64_t mt_carried_time(const struct mt_carried *carried, size_t i);

/*
 * Borrows the bytes of content i (fields->size of them, aligned for any type) until they are
 * dropped. NULL if they are damaged or incomplete or memory is short; later calls then return NULL,
 * too.
 */
const uint8_t *mt_carried_bytes(struct mt_carried *carried, size_t i);

/* How many contents could not be read so far, and the reason for the first of them. */
size_t mt_carried_unread(const struct mt_carried *carried, const char **why);

/*
 * Frees the bytes of content i, which must not be borrowed any more. A later call reads them again.
 */
void mt_carried_drop(struct mt_carried *carried, size_t i);

#endif
