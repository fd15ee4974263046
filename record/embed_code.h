/* Pieces of an executable file's code as a recording carries them (FORMAT.md section 8). */
#ifndef MT_RECORD_EMBED_CODE_H
#define MT_RECORD_EMBED_CODE_H

#include <stddef.h>
#include <stdint.h>

struct mt_error;

struct mt_embed_code {
	uint8_t *bytes; /* the caller's to free; NULL where the file has none of it */
	size_t size;
	uint64_t original_size; /* of the file */
	size_t missing; /* blocks that the file does not have, but for the first behind its code */
};

/*
 * Reads the blocks of MT_CODE_BLOCK bytes, by their numbers in the file behind fd, rising. Both are
 * borrowed; name is for messages.
 */
struct mt_error *mt_embed_code_make(int fd, const char *name, const uint64_t *blocks, size_t count,
				    struct mt_embed_code *out);

#endif
