/*
 * A file read by offset. A pipe is first copied to an unlinked temporary file.
 */
#ifndef MT_FORMATS_READING_INPUT_H
#define MT_FORMATS_READING_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_error;

struct mt_input {
	int fd;
	uint64_t size;
	int pipe; /* a growing pipe, whose bytes are copied to fd; -1: fd is the file itself */
};

/*
 * Opens path, or standard input for "-". Directories, devices and terminals are refused; a pipe is
 * read to its end into $TMPDIR or /tmp. Errors carry no path: the caller prepends it.
 */
struct mt_error *mt_input_open(const char *path, struct mt_input *out);

/* Opens a file or pipe that is still being written; nothing is read from a pipe yet. */
struct mt_error *mt_input_open_growing(const char *path, struct mt_input *out);

/*
 * Takes the bytes written since the last call, without waiting for more. *ended: all writers of the
 * pipe have closed it. A file that was truncated, removed, or replaced by another one at its path
 * is an error.
 */
struct mt_error *mt_input_grow(struct mt_input *input, const char *path, bool *ended);

void mt_input_deinit(struct mt_input *input);

/* Reads `size` bytes at `offset`; *got is less only at the file's end. */
struct mt_error *mt_input_read(const struct mt_input *input, uint64_t offset, void *bytes,
			       size_t size, size_t *got);

/*
 * Maps part of the file; `offset` is a multiple of the page size. Returns NULL on failure; the
 * caller then reads the file. If the file is truncated while it is mapped, access raises SIGBUS.
 */
const void *mt_input_map(const struct mt_input *input, uint64_t offset, size_t size);
void mt_input_unmap(const void *bytes, size_t size);

#endif
