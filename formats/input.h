/*
 * A file read by position: regular files as they are, pipes copied to an unlinked temporary file
 * first.
 */
#ifndef MT_FORMATS_INPUT_H
#define MT_FORMATS_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct mt_error;

struct mt_input {
	int fd;
	uint64_t size;
};

/*
 * Opens path, or standard input for "-". Directories, devices and terminals are refused by name; a
 * pipe is read to its end into $TMPDIR or /tmp. Errors carry no path: the caller puts it in front.
 */
struct mt_error *mt_input_open(const char *path, struct mt_input *out);
void mt_input_deinit(struct mt_input *input);

/* Reads size bytes at offset; *got is less only at the end of the file. */
struct mt_error *mt_input_read(const struct mt_input *input, uint64_t offset, void *bytes,
			       size_t size, size_t *got);

/*
 * A view of the file, without a copy: offset is a multiple of the page size. NULL where there is
 * none to be had, so that the bytes have to be read. A file that becomes shorter while it is viewed
 * raises SIGBUS.
 */
const void *mt_input_map(const struct mt_input *input, uint64_t offset, size_t size);
void mt_input_unmap(const void *bytes, size_t size);

#endif
