/*
 * A file as a range of memory. Only a few of its pages are populated at a time: a page is read when
 * it is needed, and the oldest pages are dropped.
 *
 * Files are read, not mapped: a file may be truncated at any time, and that must not end the
 * recorder with SIGBUS. Pages that are not populated read as zeros.
 */
#ifndef MT_RECORD_FILES_FILE_PAGES_H
#define MT_RECORD_FILES_FILE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;
struct mt_file_pages;
struct mt_file_worker;

/* Borrows fd and worker. name is used in messages. */
struct mt_error *mt_file_pages_create(struct mt_file_worker *worker, int fd, const char *name,
				      struct mt_file_pages **out);
void mt_file_pages_destroy(struct mt_file_pages *pages);

/* The range, as large as the file; pages that are not populated read as zeros. */
const uint8_t *mt_file_pages_bytes(const struct mt_file_pages *pages);
size_t mt_file_pages_size(const struct mt_file_pages *pages);

/* True if bytes point into the range. */
bool mt_file_pages_has(const struct mt_file_pages *pages, const uint8_t *bytes);

/*
 * Populates `size` bytes at offset, up to the end of the file. They stay until the next call (at
 * most 1 MiB), or with `keep` permanently (at most 64 MiB in total).
 */
void mt_file_pages_need(struct mt_file_pages *pages, uint64_t offset, uint64_t size, bool keep);

/*
 * Copies bytes of the file; bytes past its end are zeros. Does not change which pages are
 * populated.
 */
void mt_file_pages_copy(struct mt_file_pages *pages, uint64_t offset, uint8_t *to, size_t size);

#endif
