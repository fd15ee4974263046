/*
 * Bytes of a file as memory that holds few of them at a time: a reserved range as large as the
 * file, into which pages are read when they are needed, and out of which the oldest go.
 *
 * Files are read, not mapped: a live one may be cut short at any time, and that must not end the
 * recorder with SIGBUS. What is not there reads as zeros.
 */
#ifndef MT_RECORD_FILES_FILE_PAGES_H
#define MT_RECORD_FILES_FILE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_file_pages;
struct mt_file_worker;

/* fd, and who reads it, are borrowed. name is for messages. */
struct mt_error *mt_file_pages_create(struct mt_file_worker *worker, int fd, const char *name,
				      struct mt_file_pages **out);
void mt_file_pages_destroy(struct mt_file_pages *pages);

/* As large as the file is; what of it is not in memory reads as zeros. */
const uint8_t *mt_file_pages_bytes(const struct mt_file_pages *pages);
size_t mt_file_pages_size(const struct mt_file_pages *pages);

/* Whether bytes point into it. */
bool mt_file_pages_has(const struct mt_file_pages *pages, const uint8_t *bytes);

/*
 * Reads what is there of these bytes to their place, until the next call (no more than a megabyte),
 * or with keep for good (no more than 64 of all that is kept).
 */
void mt_file_pages_need(struct mt_file_pages *pages, uint64_t offset, uint64_t size, bool keep);

/* Copies bytes of the file, zeros in the place of what is not there; all stays as it was. */
void mt_file_pages_copy(struct mt_file_pages *pages, uint64_t offset, uint8_t *to, size_t size);

#endif
